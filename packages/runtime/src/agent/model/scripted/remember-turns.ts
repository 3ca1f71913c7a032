/**
 * Remembers the turns of a scripted model. The number of turns is bounded, because an agent that stays running has many
 * turns.
 */
import type { Rule } from '../../../config/script/script.ts';

export interface TurnMemory {
  readonly failures: Map<Rule, number>;
  /** The highest number of a tool call in this turn. */
  lastCallNumber: number;
}

/**
 * Returns a function that finds the memory of a turn. A turn that is not among the latest `limit` turns gets a new
 * memory.
 */
export function rememberTurns(limit: number): (turnId: string) => TurnMemory {
  const turns = new Map<string, TurnMemory>();
  return (turnId) => {
    const turn = turns.get(turnId) ?? { failures: new Map(), lastCallNumber: 0 };
    // Inserted again, so that this turn becomes the newest: a Map keeps the order of insertion.
    turns.delete(turnId);
    turns.set(turnId, turn);
    for (const oldest of turns.keys()) {
      if (turns.size <= limit) break;
      turns.delete(oldest);
    }
    return turn;
  };
}
