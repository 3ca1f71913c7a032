/**
 * Whether a process still answers.
 *
 * Invariants:
 * 1. It is dead when `missedPings` pings in a row are unanswered at the time of the next one: 15 s after the first of
 *    them, by default.
 * 2. A beat counts one ping, however late the beat comes: an orchestrator that was stopped for an hour finds nobody
 *    dead when it goes on.
 * 3. Only an answer to a ping that was sent counts, and an older answer takes nothing back.
 */

import type { HeartbeatPolicy } from '../../config/swarm-policy.ts';

export const defaultHeartbeatPolicy: HeartbeatPolicy = { everyMs: 5_000, missedPings: 3 };

export interface Heartbeat {
  /** The number of the last ping. */
  readonly sent: number;
  /** The highest number that was answered. */
  readonly answered: number;
}

export const firstHeartbeat: Heartbeat = { sent: 0, answered: 0 };

export type Beat =
  { readonly type: 'ping'; readonly n: number; readonly heartbeat: Heartbeat } | { readonly type: 'dead' };

/** To be called every `everyMs`, from the start of the process on. */
export function beat(heartbeat: Heartbeat, policy: HeartbeatPolicy): Beat {
  if (heartbeat.sent - heartbeat.answered >= policy.missedPings) return { type: 'dead' };
  const n = heartbeat.sent + 1;
  return { type: 'ping', n, heartbeat: { ...heartbeat, sent: n } };
}

export function answerPing(heartbeat: Heartbeat, n: number): Heartbeat {
  if (n > heartbeat.sent || n <= heartbeat.answered) return heartbeat;
  return { ...heartbeat, answered: n };
}
