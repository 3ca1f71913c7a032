import { type FrameError, toFrameError } from '../../ipc/check/frame-error.ts';
import type { Journal } from '../../workspace/journal/journal.ts';
import { giveUpRequests, type PendingInput } from './give-up-requests.ts';

/**
 * Reads the inputs that were accepted and not handled, of every instance on the disk, also of those that have nothing; `only` of these
 * agents. One whose inbox cannot be read comes with its problem, and keeps nobody else from being read.
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
  // Of a swarm that runs, the disk alone does not tell who asks.
  return only === undefined ? giveUpRequests(inputs) : inputs;
}

export function storeProblem(thrown: unknown): FrameError {
  return toFrameError(thrown, 'E_STORE_READ');
}
