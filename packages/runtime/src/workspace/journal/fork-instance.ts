/** A new instance that goes on from a moment of another one's conversation. */
import { type AgentAddress, EPHEMERAL } from '@goondan/types';
import { foldHistory, type Moment } from '../history/fold-history.ts';
import type { Journal } from './journal.ts';
import type { ConversationToFork } from './plan-fork.ts';

export interface ForkOptions {
  /** The key of the new one. */
  readonly as: string;
  /** The newest moment when absent. */
  readonly at?: Moment;
}

export interface ForkedInstance {
  /** The number of the last event of the old one that counts in the new one. */
  readonly seq: number;
  readonly messages: number;
  /** Extensions that begin without the state they had at that moment: it was too long for the archive. */
  readonly unknownStates: readonly string[];
}

/**
 * What the new one begins with. States that are not archived are known at the newest moment alone.
 *
 * **Errors** — `E_HISTORY_RANGE`; those of reading.
 */
export async function readFork(
  journal: Pick<Journal, 'history' | 'read'>,
  from: AgentAddress,
  at: Moment | undefined,
): Promise<{ readonly conversation: ConversationToFork; readonly forked: ForkedInstance }> {
  const fold = await foldHistory(journal, from, at);
  const { known, unknown } = fold.states();
  // The archive has neither long states nor those that were committed alone since the last turn.
  const now = at === undefined || unknown.length > 0 ? await journal.read(from) : undefined;
  const isNow = now?.version === fold.version;
  // What was only meant for a step or a turn that is over here.
  const messages = fold.blamed().filter(({ message }) => message.metadata[EPHEMERAL] === undefined);
  const { instanceKey } = from;
  const { seq } = fold;
  return {
    conversation: { from: { instanceKey, seq }, messages, extensionState: isNow ? now.extensionState : known },
    forked: { seq, messages: messages.length, unknownStates: isNow ? [] : unknown },
  };
}
