import { type DeletedInstance, toInstanceAddress } from '@goondan/runtime/control';
import { deleteStoppedInstance } from '@goondan/runtime/internal';
import { type AgentAddress, GoondanError } from '@goondan/types';
import { attachSwarm } from '../swarm/attach-swarm.ts';
import { betweenSwarms } from '../swarm/between-swarms.ts';

/**
 * Deletes a conversation through the running swarm, or on disk when no swarm runs. **Errors** — those of
 * `InstanceAdmin.delete`, of the control socket, and `E_SWARM_RUNNING`.
 */
export function deleteInstance(
  place: Parameters<typeof deleteStoppedInstance>[0],
  at: AgentAddress,
  force: boolean,
  signal: AbortSignal,
): Promise<DeletedInstance> {
  return betweenSwarms(async (isAgain) => {
    try {
      const running = await attachSwarm(place);
      return await (running === undefined
        ? deleteStoppedInstance(place, at, { force })
        : running.deleteInstance({ ...toInstanceAddress(at), force }));
    } catch (error) {
      // In an earlier attempt, the swarm deleted the conversation and stopped before it could answer.
      if (isAgain && GoondanError.is(error) && error.code === 'E_INSTANCE_UNKNOWN') return {};
      throw error;
    }
  }, signal);
}
