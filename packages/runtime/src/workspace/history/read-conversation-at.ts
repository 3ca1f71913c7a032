import type { AgentAddress, JsonValue, Message } from '@goondan/types';
import { foldHistory, type Moment } from './fold-history.ts';
import type { HistorySource } from './read-history.ts';

export interface ConversationAt {
  /** The number of the last event included here. */
  readonly seq: number;
  readonly messages: readonly Message[];
  /** States by extension name, as the last turn before left them. */
  readonly extensionState: Readonly<Record<string, JsonValue>>;
  /** Extensions with a state that was too long for the archive, and so is no longer known. */
  readonly unknownStates: readonly string[];
}

/**
 * Reads the messages and states at a moment. **Errors** — `E_HISTORY_RANGE` when there is no such event or turn, or it
 * is no longer kept; those of reading.
 */
export async function readConversationAt(
  source: HistorySource,
  instance: AgentAddress,
  moment?: Moment,
): Promise<ConversationAt> {
  const fold = await foldHistory(source, instance, moment);
  const { known, unknown } = fold.states();
  return { seq: fold.seq, messages: fold.messages(), extensionState: known, unknownStates: unknown };
}
