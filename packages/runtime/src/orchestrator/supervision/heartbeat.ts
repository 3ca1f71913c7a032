/**
 * Checks whether a process still answers.
 *
 * Invariants:
 * 1. A process counts as dead when `missedPings` pings in a row are unanswered at the time of the next ping: by default
 *    15 s after the first unanswered ping.
 * 2. Each beat sends one ping, however late the beat comes. So no process counts as dead because the orchestrator was
 *    suspended for an hour.
 * 3. Only an answer to a sent ping counts. Once a ping is answered, the answer to an earlier ping changes nothing.
 * 4. A turn that the process does not confirm counts like a ping that it does not answer: it may answer pings, and know
 *    nothing of the turn.
 */

import type { HeartbeatPolicy } from '../../config/swarm-policy.ts';

export const defaultHeartbeatPolicy: HeartbeatPolicy = { everyMs: 5_000, missedPings: 3 };

export interface Heartbeat {
  /** The number of the last ping sent. */
  readonly sent: number;
  /** The number of the last ping answered. */
  readonly answered: number;
  /** The number of the last ping before a turn was handed over; absent once the process has confirmed the turn. */
  readonly handedOverAfter?: number;
}

export const firstHeartbeat: Heartbeat = { sent: 0, answered: 0 };

/**
 * Sends the next ping, or reports that the process is dead. Call it every `everyMs`, from the start of the process on.
 */
export function beat(
  heartbeat: Heartbeat,
  policy: HeartbeatPolicy,
): { readonly type: 'ping'; readonly n: number; readonly heartbeat: Heartbeat } | { readonly type: 'dead' } {
  const { sent, answered, handedOverAfter = answered } = heartbeat;
  if (sent - Math.min(answered, handedOverAfter) >= policy.missedPings) return { type: 'dead' };
  const n = heartbeat.sent + 1;
  return { type: 'ping', n, heartbeat: { ...heartbeat, sent: n } };
}

export function handOverTurn(heartbeat: Heartbeat): Heartbeat {
  return { ...heartbeat, handedOverAfter: heartbeat.sent };
}

export function confirmTurn({ handedOverAfter: _, ...heartbeat }: Heartbeat): Heartbeat {
  return heartbeat;
}

export function answerPing(heartbeat: Heartbeat, n: number): Heartbeat {
  if (n > heartbeat.sent || n <= heartbeat.answered) return heartbeat;
  return { ...heartbeat, answered: n };
}
