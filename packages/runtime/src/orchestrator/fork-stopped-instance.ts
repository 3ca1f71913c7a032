import type { AgentAddress } from '@goondan/types';
import type { ForkedInstance, ForkOptions } from '../workspace/journal/fork-instance.ts';
import { refuseKey } from './address/find-key-problem.ts';
import { type StoppedSwarm, withStoppedWorkspace } from './with-stopped-workspace.ts';

/**
 * Forks an instance of a workspace that nobody runs.
 *
 * **Errors** — `E_INSTANCE_KEY`, `E_SWARM_RUNNING`; those of `Journal.fork`.
 */
export async function forkStoppedInstance(
  place: StoppedSwarm,
  from: AgentAddress,
  options: ForkOptions,
): Promise<ForkedInstance> {
  refuseKey(options.as);
  return withStoppedWorkspace(place, (journal) => journal.fork(from, options));
}
