import type { TokenUsage, TurnResult } from '@goondan/types';

/** The tokens of a turn. */
export interface TurnUsage {
  /** The tokens of the turn's own model calls and of the agents that it called. */
  readonly usage: TokenUsage;
  /** The part of `usage` that called agents used, and the agents that they called; absent if there is none. */
  readonly called?: TokenUsage;
}

/** The end of a turn, in the form that its agent, its process, the orchestrator and traces share. */
export interface TurnOutcome extends TurnUsage {
  readonly result: TurnResult;
  readonly stepCount: number;
}
