import type { InstanceView } from '@goondan/cli/studio';
import { emptyTurn, liveKey, type LiveTurns } from './live-turns.ts';

/** Adds running turns whose beginning was missed: before the page was opened, or in a gap of its stream. */
export function pickUpTurns(turns: LiveTurns, instances: readonly InstanceView[]): LiveTurns {
  const unheard = instances.filter(
    ({ agent, instanceKey, status }) => status === 'working' && turns[liveKey(agent, instanceKey)] === undefined,
  );
  const pickedUp = unheard.map(
    ({ agent, instanceKey }) => [liveKey(agent, instanceKey), emptyTurn(agent, instanceKey)] as const,
  );
  return pickedUp.length === 0 ? turns : { ...turns, ...Object.fromEntries(pickedUp) };
}
