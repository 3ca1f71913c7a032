import type { AgentAddress } from '@goondan/types';
import type { BlamedMessage } from './blamed-message.ts';
import { foldHistory, type Moment } from './fold-history.ts';
import type { HistorySource } from './read-history.ts';

export interface BlameQuestion {
  /** Now, when absent. */
  readonly at?: Moment;
  /** How many of the messages that each message replaced are wanted; 0 when absent, and never more than 1000. */
  readonly replaced?: number;
}

export interface Blame {
  /** The number of the last event that counts here. */
  readonly seq: number;
  /** In the order of the conversation. */
  readonly messages: readonly BlamedMessage[];
}

const MOST_REPLACED = 1000;

/**
 * Who put each message of a conversation there, when, in which turn and step, and what it replaced.
 *
 * **Errors** — `E_HISTORY_RANGE` when there is no such event or turn, or it is no longer kept; those of reading.
 */
export async function blame(
  source: HistorySource,
  instance: AgentAddress,
  { at, replaced = 0 }: BlameQuestion = {},
): Promise<Blame> {
  const fold = await foldHistory(source, instance, at, Math.min(replaced, MOST_REPLACED));
  return { seq: fold.seq, messages: fold.blamed() };
}
