/** Changes conversations of a stopped workspace, in the way its orchestrator would. */
import type { AgentAddress } from '@goondan/types';
import { systemClock } from '../ports/clock.ts';
import { durableStore, type DurableStoreOptions } from '../workspace/journal/durable-store.ts';
import type { ForkedInstance, ForkOptions } from '../workspace/journal/fork-instance.ts';
import type { DeletedInstance, DeleteOptions, Journal } from '../workspace/journal/journal.ts';
import { ownWorkspace } from '../workspace/swarms/own-workspace.ts';
import { refuseKey } from './address/find-address-problem.ts';
import { endLeftovers } from './guardian/kill-tagged.ts';
import { newTag, RUN_VARIABLE } from './guardian/process-tag.ts';

export interface StoppedSwarm extends Pick<DurableStoreOptions, 'stateRoot' | 'workspaceId' | 'warn'> {
  /** The name of the swarm. Another process that wants the workspace meanwhile gets an error with this name. */
  readonly swarm: string;
  /** See `startSwarm`. */
  readonly flock?: boolean;
}

/** Deletes an instance of a stopped workspace. **Errors** — `E_SWARM_RUNNING`; those of `Journal.delete`. */
export function deleteStoppedInstance(
  place: StoppedSwarm,
  at: AgentAddress,
  options: DeleteOptions = {},
): Promise<DeletedInstance> {
  return withStoppedWorkspace(place, (journal) => journal.delete(at, options));
}

/**
 * Forks an instance of a stopped workspace.
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

/**
 * Owns the workspace while `action` runs, so that no swarm can start. Remaining processes of an earlier run are ended
 * first, because they may still write.
 *
 * **Errors** — `E_SWARM_RUNNING`; those of `action`.
 */
async function withStoppedWorkspace<Value>(
  { swarm, flock = true, ...place }: StoppedSwarm,
  action: (journal: Journal) => Promise<Value>,
): Promise<Value> {
  const owner = await ownWorkspace({ ...place, ...(flock ? {} : { flock }) }, { swarm, runTag: newTag(RUN_VARIABLE) });
  try {
    await endLeftovers(owner.broken, systemClock);
    const journal = await durableStore(place);
    try {
      await journal.sweep();
      return await action(journal);
    } finally {
      await journal.close();
    }
  } finally {
    await owner.release();
  }
}
