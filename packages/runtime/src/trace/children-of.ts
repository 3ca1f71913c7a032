/** The contents of a chain: other chains, and turns of called agents, in the order they started. */
import type { ChainRecord, TurnTrace } from './turn-trace.ts';

/** Lists the contents. `turnStart`: the time at which the chain's turn began, in milliseconds. */
export function childrenOf({ inside, called }: ChainRecord, turnStart: number): readonly (ChainRecord | TurnTrace)[] {
  if (called.length === 0) return inside;
  const placed = [
    ...inside.map((child) => ({ child, at: turnStart + child.startMs })),
    ...called.map((child) => ({ child, at: Date.parse(child.startedAt) })),
  ];
  return placed.toSorted((one, other) => one.at - other.at).map(({ child }) => child);
}

export function isTurn(one: ChainRecord | TurnTrace): one is TurnTrace {
  return 'turnId' in one;
}
