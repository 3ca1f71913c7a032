import { describe, expect, test } from 'bun:test';
import {
  answerPing,
  beat,
  confirmTurn,
  defaultHeartbeatPolicy,
  firstHeartbeat,
  handOverTurn,
  type Heartbeat,
} from './heartbeat.ts';

/**
 * Sends pings until the process counts as dead, or `most` pings were sent. `answers` tells which pings are answered
 * before the next one.
 */
function live(most: number, answers: (n: number) => boolean): { pings: number; isDead: boolean } {
  let heartbeat: Heartbeat = firstHeartbeat;
  for (let pings = 0; pings < most; pings++) {
    const next = beat(heartbeat, defaultHeartbeatPolicy);
    if (next.type === 'dead') return { pings, isDead: true };
    heartbeat = answers(next.n) ? answerPing(next.heartbeat, next.n) : next.heartbeat;
  }
  return { pings: most, isDead: false };
}

describe('the heartbeat', () => {
  test('is sent every 5 s, and 3 missed pings mean dead', () => {
    expect(defaultHeartbeatPolicy).toEqual({ everyMs: 5_000, missedPings: 3 });
    expect(live(100, () => false)).toEqual({ pings: 3, isDead: true });
  });

  test('continues while pings are answered', () => {
    expect(live(100, () => true)).toEqual({ pings: 100, isDead: false });
  });

  test('allows two missed pings in a row, not three', () => {
    expect(live(99, (n) => n % 3 === 0).isDead).toBe(false);
    expect(live(100, (n) => n <= 10)).toEqual({ pings: 13, isDead: true });
  });

  test('numbers are parameters', () => {
    const once = beat(firstHeartbeat, { everyMs: 1, missedPings: 1 });
    expect(once).toEqual({ type: 'ping', n: 1, heartbeat: { sent: 1, answered: 0 } });
    expect(beat({ sent: 1, answered: 0 }, { everyMs: 1, missedPings: 1 })).toEqual({ type: 'dead' });
  });

  test('ignores an answer to a ping that was never sent, and a repeated answer', () => {
    expect(answerPing({ sent: 2, answered: 0 }, 3)).toEqual({ sent: 2, answered: 0 });
    expect(answerPing({ sent: 5, answered: 4 }, 2)).toEqual({ sent: 5, answered: 4 });
  });

  test('counts a turn that is not confirmed like a ping that is not answered, whatever else is answered', () => {
    const healthy = { sent: 7, answered: 7 };
    const unsure = handOverTurn(healthy);
    expect(beat({ ...unsure, sent: 9, answered: 9 }, defaultHeartbeatPolicy).type).toBe('ping');
    expect(beat({ ...unsure, sent: 10, answered: 10 }, defaultHeartbeatPolicy)).toEqual({ type: 'dead' });
    expect(beat(confirmTurn({ ...unsure, sent: 10, answered: 10 }), defaultHeartbeatPolicy).type).toBe('ping');
    expect(beat(handOverTurn({ sent: 10, answered: 7 }), defaultHeartbeatPolicy)).toEqual({ type: 'dead' });
  });

  test('a late answer to an old ping leaves the newer ones open', () => {
    expect(beat(answerPing({ sent: 4, answered: 0 }, 1), defaultHeartbeatPolicy)).toEqual({ type: 'dead' });
    expect(beat(answerPing({ sent: 4, answered: 0 }, 2), defaultHeartbeatPolicy).type).toBe('ping');
  });
});
