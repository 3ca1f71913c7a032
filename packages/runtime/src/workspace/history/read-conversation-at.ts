import type { AgentAddress, JsonValue, Message } from '@goondan/types';
import { foldHistory, type Moment } from './fold-history.ts';
import type { HistorySource } from './read-history.ts';

export interface ConversationAt {
  /** The number of the last event that the messages include. */
  readonly seq: number;
  readonly messages: readonly Message[];
  /** States by extension name, after the last complete turn up to this moment. */
  readonly extensionState: Readonly<Record<string, JsonValue>>;
  /** Extensions whose state at this moment is unknown, because it was too long for the archive. */
  readonly unknownStates: readonly string[];
  /** The turn of the moment, if the moment was given as an input that the turn took while it ran. */
  readonly takenBy?: string;
}

/**
 * Reads the messages and states at a moment. **Errors** — `E_HISTORY_RANGE` when the event or turn does not exist or is
 * no longer kept; those of reading.
 */
export async function readConversationAt(
  source: HistorySource,
  instance: AgentAddress,
  moment?: Moment,
): Promise<ConversationAt> {
  const fold = await foldHistory(source, instance, moment);
  const { known, unknown } = fold.states();
  const { seq, takenBy } = fold;
  const taken = takenBy === undefined ? {} : { takenBy };
  return { seq, messages: fold.messages(), extensionState: known, unknownStates: unknown, ...taken };
}
