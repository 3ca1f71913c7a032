/**
 * After a restart: requests of agents whose turn somebody cancelled. Such a turn gives up what it asked for when it ends,
 * but the orchestrator that knew what it had asked for is gone.
 */
import type { AgentAddress, AgentEvent } from '@goondan/types';
import type { FrameError } from '../../ipc/check/frame-error.ts';
import type { InboxEntry } from '../../workspace/inbox/inbox-lines.ts';
import { addressKey } from '../address/address-key.ts';

export interface PendingInput {
  readonly address: AgentAddress;
  /** In the order of acceptance; the first one's turn may have begun. */
  readonly entries: readonly InboxEntry[];
  /** Why its inbox cannot be read; then nobody knows which entries there are. */
  readonly problem?: FrameError;
}

/** `inputs` are those of the whole workspace. One that somebody still waits for, or may wait for, stays as it is. */
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
