import type { AgentAddress } from '@goondan/types';
import type { BlamedMessage } from './blamed-message.ts';
import { foldHistory, type Moment } from './fold-history.ts';
import type { HistorySource } from './read-history.ts';

export interface BlameQuestion {
  /** The moment to look at; the newest when absent. */
  readonly at?: Moment;
  /** The maximum number of replaced messages to return for each message: 0 when absent, and never more than 1000. */
  readonly replaced?: number;
}

export interface Blame {
  /** The number of the last event that the messages include. */
  readonly seq: number;
  /** Messages in the order of the conversation. */
  readonly messages: readonly BlamedMessage[];
}

const MOST_REPLACED = 1000;

/**
 * Returns for each message of a conversation who added it, when, in which turn and step, and which messages it
 * replaced.
 *
 * **Errors** — `E_HISTORY_RANGE` when the event or turn does not exist or is no longer kept; those of reading.
 */
export async function blame(
  source: HistorySource,
  instance: AgentAddress,
  { at, replaced = 0 }: BlameQuestion = {},
): Promise<Blame> {
  const fold = await foldHistory(source, instance, at, Math.min(replaced, MOST_REPLACED));
  return { seq: fold.seq, messages: fold.blamed() };
}
