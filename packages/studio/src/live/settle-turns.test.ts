import type { InstanceView } from '@goondan/cli/studio';
import { describe, expect, test } from 'bun:test';
import { followNotice, liveKey } from './live-turns.ts';
import { pickUpTurns } from './pick-up-turns.ts';
import { settleTurns } from './settle-turns.ts';

const at = { agent: 'concierge', instanceKey: 'default' };
const id = liveKey('concierge', 'default');
const live = followNotice({}, { type: 'runtime.event', at, name: 'turn.started', payload: {} });

describe('a turn whose end was missed', () => {
  test('is dropped when the swarm reports twice that it does not run', () => {
    const doubted = settleTurns(live, [instance('idle')]);
    expect(Object.keys(doubted)).toEqual([id]);
    expect(settleTurns(doubted, [instance('idle')])).toEqual({});
    expect(settleTurns(doubted, [])).toEqual({});
  });

  test('stays when a notice arrives in between, because the report was older', () => {
    const called = { type: 'runtime.event', at, name: 'tool.called', payload: { toolCallId: 'c' } } as const;
    const heardOf = followNotice(settleTurns(live, []), called);
    expect(Object.keys(settleTurns(heardOf, []))).toEqual([id]);
  });

  test.each(['working', 'starting', 'waiting'] as const)('stays while its agent is %s', (status) => {
    expect(settleTurns(settleTurns(live, [instance(status)]), [instance(status)])).toEqual(live);
  });
});

describe('a turn whose beginning was missed', () => {
  test('is added when the swarm reports that its agent works', () => {
    expect(pickUpTurns({}, [instance('working')])[id]).toMatchObject({ agent: 'concierge', text: '' });
    expect(pickUpTurns({}, [instance('idle')])).toEqual({});
    expect(pickUpTurns(live, [instance('working')])).toBe(live);
  });
});

function instance(status: InstanceView['status']): InstanceView {
  return { agent: 'concierge', instanceKey: 'default', status, messages: 0, updatedAt: null, queued: 0, crashes: 0 };
}
