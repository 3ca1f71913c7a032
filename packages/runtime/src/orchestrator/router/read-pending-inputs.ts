import { type FrameError, toFrameError } from '../../ipc/check/frame-error.ts';
import type { Journal } from '../../workspace/journal/journal.ts';
import { giveUpRequests, type PendingInput } from './give-up-requests.ts';

/**
 * Reads the pending inputs of every instance on disk, including instances without any. `only`: reads only the instances
 * of these agents. An instance whose inbox is unreadable is returned with its problem, and does not affect the others.
 */
export async function readPendingInputs(
  journal: Pick<Journal, 'instances' | 'pendingEntries'>,
  only?: ReadonlySet<string>,
): Promise<readonly PendingInput[]> {
  const inputs: PendingInput[] = [];
  for (const address of await journal.instances()) {
    if (only?.has(address.agentName) === false) continue;
    try {
      inputs.push({ address, entries: await journal.pendingEntries(address) });
    } catch (error) {
      inputs.push({ address, entries: [], problem: storeProblem(error) });
    }
  }
  // In a running swarm, the disk alone does not show which callers wait.
  return only === undefined ? giveUpRequests(inputs) : inputs;
}

export function storeProblem(thrown: unknown): FrameError {
  return toFrameError(thrown, 'E_STORE_READ');
}
