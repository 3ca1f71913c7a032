import type { TokenUsage, TurnResult } from '@goondan/types';

/** The end of a turn, in the form that its agent, its process, the orchestrator and traces share. */
export interface TurnOutcome {
  readonly result: TurnResult;
  readonly stepCount: number;
  readonly usage: TokenUsage;
}
