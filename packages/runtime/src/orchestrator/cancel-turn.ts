/** Cancels the turn of an event, running or still waiting; false when there is none. */
import type { AgentAddress } from '@goondan/types';
import type { Swarm } from './swarm.ts';

export function cancelTurn(swarm: Swarm, at: AgentAddress, eventId: string, reason: string): boolean {
  const isThere = swarm.instances
    .find(at)
    ?.state.queue.some(({ event, cancelled }) => event.id === eventId && cancelled === undefined);
  if (isThere !== true) return false;
  swarm.instances.post(at, { type: 'cancel', eventId, reason });
  return true;
}
