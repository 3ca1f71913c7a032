/** The memory of a scripted model about its turns. It is bounded, because a resident agent runs many turns. */
import type { Rule } from '../../../config/script/script.ts';

export interface TurnMemory {
  readonly failures: Map<Rule, number>;
  /** The highest number used for a tool call of this turn. */
  lastCallNumber: number;
}

/** Returns the memory of a turn; a new one when the turn is not among the latest `limit`. */
export function rememberTurns(limit: number): (turnId: string) => TurnMemory {
  const turns = new Map<string, TurnMemory>();
  return (turnId) => {
    const turn = turns.get(turnId) ?? { failures: new Map(), lastCallNumber: 0 };
    // Inserted again to be the newest: a Map keeps the order of insertion.
    turns.delete(turnId);
    turns.set(turnId, turn);
    for (const oldest of turns.keys()) {
      if (turns.size <= limit) break;
      turns.delete(oldest);
    }
    return turn;
  };
}
