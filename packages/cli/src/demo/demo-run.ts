import type { ChainRecord } from '@goondan/runtime';
import type { TokenUsage, TurnError, TurnResult } from '@goondan/types';

/** What `gdn demo --json` prints. Fields are added, never renamed. */
export interface DemoRun {
  readonly agent: string;
  readonly instanceKey: string;
  readonly turnId: string;
  readonly traceId: string;
  /** Empty when the turn failed. */
  readonly response: string;
  readonly finishReason: TurnResult['finishReason'];
  /** Present when the turn failed. */
  readonly error?: TurnError;
  readonly steps: number;
  readonly usage: TokenUsage;
  /** Absent when the turn failed before its first layer. */
  readonly trace: ChainRecord | undefined;
}
