import type { InstanceView } from '@goondan/cli/studio';
import { liveKey, type LiveTurns } from './live-turns.ts';

/**
 * Drops running turns whose end was missed, by comparing them with the swarm's report of its instances. A report may be
 * older than the start of a turn. So a turn that is not in the report is first marked as doubted, and dropped with the
 * next report if no notice arrived in between.
 */
export function settleTurns(turns: LiveTurns, instances: readonly InstanceView[]): LiveTurns {
  if (Object.keys(turns).length === 0) return turns;
  const busy = new Set(instances.filter(isBusy).map(({ agent, instanceKey }) => liveKey(agent, instanceKey)));
  const kept = Object.entries(turns).flatMap(([id, turn]) => {
    if (busy.has(id)) return [[id, turn] as const];
    return turn.isDoubted === true ? [] : [[id, { ...turn, isDoubted: true }] as const];
  });
  return Object.fromEntries(kept);
}

/** Tells whether an instance runs a turn. An instance that waits for a restart after a crash will continue its turn. */
function isBusy({ status }: InstanceView): boolean {
  return status === 'working' || status === 'starting' || status === 'waiting';
}
