import { type DeletedInstance, toInstanceAddress } from '@goondan/runtime/control';
import { deleteStoppedInstance, describeKeptInstance } from '@goondan/runtime/internal';
import { type AgentAddress, GoondanError } from '@goondan/types';
import { attachSwarm } from '../swarm/attach-swarm.ts';
import { betweenSwarms } from '../swarm/between-swarms.ts';

/** A deleted instance, and a warning of the swarm that deleted it, if old files stay. */
export interface Deleted extends DeletedInstance {
  readonly warning?: string;
}

/**
 * Deletes a conversation through the running swarm, or on disk when no swarm runs. **Errors** — those of
 * `InstanceAdmin.delete`, of the control socket, and `E_SWARM_RUNNING`.
 */
export function deleteInstance(
  place: Parameters<typeof deleteStoppedInstance>[0],
  at: AgentAddress,
  force: boolean,
  signal: AbortSignal,
): Promise<Deleted> {
  return betweenSwarms(async (isAgain) => {
    try {
      const running = await attachSwarm(place);
      if (running === undefined) return await deleteStoppedInstance(place, at, { force });
      const deleted = await running.deleteInstance({ ...toInstanceAddress(at), force });
      // The warning of a running swarm is in its log.
      const warning = await describeKeptInstance(place, at);
      return warning === undefined ? deleted : { ...deleted, warning };
    } catch (error) {
      // In an earlier attempt, the swarm deleted the conversation and stopped before it could answer.
      if (isAgain && GoondanError.is(error) && error.code === 'E_INSTANCE_UNKNOWN') return {};
      throw error;
    }
  }, signal);
}
