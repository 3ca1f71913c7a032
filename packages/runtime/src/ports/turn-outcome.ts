import type { TokenUsage, TurnResult } from '@goondan/types';

/** The end of a turn, as its agent, its process, the orchestrator and traces know it. */
export interface TurnOutcome {
  readonly result: TurnResult;
  readonly stepCount: number;
  readonly usage: TokenUsage;
}
