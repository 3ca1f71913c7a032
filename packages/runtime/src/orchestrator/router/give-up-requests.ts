/**
 * Gives up the requests of cancelled turns after a restart. Such a turn normally gives up its requests when it ends,
 * but the orchestrator that knew them has exited.
 */
import type { AgentAddress, AgentEvent } from '@goondan/types';
import type { FrameError } from '../../ipc/check/frame-error.ts';
import type { InboxEntry } from '../../workspace/inbox/inbox-lines.ts';
import { addressKey } from '../address/address-key.ts';

export interface PendingInput {
  readonly address: AgentAddress;
  /** The pending entries in the order of acceptance; the turn of the first one may have begun. */
  readonly entries: readonly InboxEntry[];
  /** The reason why the inbox cannot be read; its entries are then unknown. */
  readonly problem?: FrameError;
}

/**
 * Returns the inputs, with cancel marks for requests that are given up. `inputs`: those of the whole workspace. A
 * request whose caller waits, or may wait, is kept.
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
