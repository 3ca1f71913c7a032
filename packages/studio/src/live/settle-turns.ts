import type { InstanceView } from '@goondan/cli/studio';
import { liveKey, type LiveTurns } from './live-turns.ts';

/**
 * A turn whose end was not heard does not run forever: what the swarm says of its instances counts too. It may have said
 * it before the turn began, so one that it does not know of is doubted first, and let go when it is asked again and nothing
 * was heard of the turn meanwhile.
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

/** One that waits to be started again after a crash goes on with its turn. */
function isBusy({ status }: InstanceView): boolean {
  return status === 'working' || status === 'starting' || status === 'waiting';
}
