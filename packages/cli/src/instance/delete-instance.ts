import { type DeletedInstance, toInstanceAddress } from '@goondan/runtime/control';
import { deleteStoppedInstance } from '@goondan/runtime/internal';
import { type AgentAddress, GoondanError } from '@goondan/types';
import { attachSwarm } from '../swarm/attach-swarm.ts';
import { notRunning } from '../swarm/not-running.ts';
import type { ClusterPlace, SwarmPlace } from '../swarm/swarm-place.ts';
import { betweenSwarms } from '../swarm/between-swarms.ts';

/**
 * Deletes a conversation through the running swarm, or on disk when no swarm runs. **Errors** — those of
 * `InstanceAdmin.delete`, of the control socket, and `E_SWARM_RUNNING`; `E_CONTROL_CLOSED` when no node of a swarm in a
 * store runs.
 */
export function deleteInstance(
  place: SwarmPlace & { readonly swarm: string; readonly flock?: boolean },
  at: AgentAddress,
  force: boolean,
  signal: AbortSignal,
): Promise<DeletedInstance> {
  if (place.cluster !== undefined) return deleteAtNode(place, at, force);
  return betweenSwarms(async (isAgain) => {
    try {
      const running = await attachSwarm(place);
      if (running === undefined) return await deleteStoppedInstance(place, at, { force });
      return await running.deleteInstance({ ...toInstanceAddress(at), force });
    } catch (error) {
      // In an earlier attempt, the swarm deleted the conversation and stopped before it could answer.
      if (isAgain && GoondanError.is(error) && error.code === 'E_INSTANCE_UNKNOWN') return {};
      throw error;
    }
  }, signal);
}

/** Nobody can take a swarm in a store by starting it, so a command does not wait for that. */
async function deleteAtNode(place: ClusterPlace & { readonly swarm: string }, at: AgentAddress, force: boolean) {
  const running = await attachSwarm(place);
  if (running === undefined) throw await notRunning(place, {});
  return running.deleteInstance({ ...toInstanceAddress(at), force });
}
