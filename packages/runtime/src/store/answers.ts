/** Results of committed turns that nobody has fetched yet. A result is stored with its event, in the same commit. */
import type { AgentAddress, TokenUsage, TurnResult } from '@goondan/types';

/** Only the owner of an instance uses its answers. */
export interface Answers {
  /**
   * Lists the answers of committed turns whose caller has not confirmed them, oldest first. Finishes an interrupted
   * commit first, because its answer belongs to the list.
   *
   * **Errors** — those of recovery; a turn would get the same errors.
   */
  left(instance: AgentAddress): Promise<readonly LeftAnswer[]>;
  /** Removes an answer, because its caller has it. An unknown answer is ignored. */
  acknowledge(instance: AgentAddress, eventId: string): Promise<void>;
}

export interface LeftAnswer {
  readonly eventId: string;
  readonly result: TurnResult;
  /** The tokens of the turn, and of the agents that it called. Absent if they used none. */
  readonly usage?: TokenUsage;
}
