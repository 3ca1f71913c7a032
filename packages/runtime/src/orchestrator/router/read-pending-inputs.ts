/** Reads accepted input from disk, when the swarm or one of its agents starts. */
import type { AgentAddress, AgentEvent } from '@goondan/types';
import { type FrameError, toFrameError } from '../../ipc/check/frame-error.ts';
import type { InboxEntry } from '../../workspace/inbox/inbox-line.ts';
import type { Inbox } from '../../store/inbox.ts';
import type { Directory } from '../../store/readers.ts';
import type { NodeStore } from '../../store/store.ts';
import { addressKey } from '../address/address-key.ts';

export interface PendingInput {
  readonly address: AgentAddress;
  /** The pending entries in the order of acceptance; the turn of the first one may have begun. */
  readonly entries: readonly InboxEntry[];
  /** The reason why the inbox cannot be read; its entries are then unknown. */
  readonly problem?: FrameError;
}

/** Lists instances and their pending input. */
type PendingSource = Pick<Directory, 'instances'> & Pick<Inbox, 'pendingEntries'>;

export function sourceOf({ directory, inbox }: Pick<NodeStore, 'directory' | 'inbox'>): PendingSource {
  return { instances: () => directory.instances(), pendingEntries: (at) => inbox.pendingEntries(at) };
}

/**
 * Reads the pending inputs of every instance on disk, including instances without any. `only`: reads only the instances
 * of these agents. An instance whose inbox is unreadable is returned with its problem, and does not affect the others.
 */
export async function readPendingInputs(
  source: PendingSource,
  only?: ReadonlySet<string>,
): Promise<readonly PendingInput[]> {
  const inputs: PendingInput[] = [];
  for (const address of await source.instances()) {
    if (only?.has(address.agentName) === false) continue;
    try {
      inputs.push({ address, entries: await source.pendingEntries(address) });
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

/**
 * Gives up the requests of cancelled turns after a restart. Such a turn normally gives up its requests when it ends,
 * but the orchestrator that knew them has exited. Returns the inputs, with cancel marks for these requests. `inputs`
 * must hold the pending inputs of the whole workspace. A request whose caller waits, or may wait, is kept.
 */
export function giveUpRequests(inputs: readonly PendingInput[]): readonly PendingInput[] {
  const first = new Map(inputs.map(({ address, entries }) => [addressKey(address), entries[0]]));
  const unread = new Set(inputs.flatMap(({ address, problem }) => (problem ? [addressKey(address)] : [])));
  const isWanted = ({ callChain = [] }: AgentEvent) =>
    callChain.every((caller) => {
      if (unread.has(addressKey(caller))) return true;
      const running = first.get(addressKey(caller));
      return running !== undefined && running.cancelled === undefined;
    });
  const giveUp = (entry: InboxEntry): InboxEntry =>
    entry.cancelled === undefined && !isWanted(entry.event) ? { ...entry, cancelled: REASON } : entry;
  return inputs.map((input) => ({ ...input, entries: input.entries.map(giveUp) }));
}

const REASON = 'the turn that asked is over';
