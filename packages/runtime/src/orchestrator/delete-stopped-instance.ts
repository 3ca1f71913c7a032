import type { AgentAddress } from '@goondan/types';
import type { DeletedInstance, DeleteOptions } from '../workspace/journal/journal.ts';
import { type StoppedSwarm, withStoppedWorkspace } from './with-stopped-workspace.ts';

/** Deletes an instance of a workspace that nobody runs. **Errors** — `E_SWARM_RUNNING`; those of `Journal.delete`. */
export function deleteStoppedInstance(
  place: StoppedSwarm,
  at: AgentAddress,
  options: DeleteOptions = {},
): Promise<DeletedInstance> {
  return withStoppedWorkspace(place, (journal) => journal.delete(at, options));
}
