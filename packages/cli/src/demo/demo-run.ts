import type { ChainRecord } from '@goondan/runtime';
import type { TurnReport } from '../run/turn-report.ts';

/** What `gdn demo --json` prints. Fields are added, never renamed. */
export interface DemoRun extends TurnReport {
  /** Absent when the turn failed before its first layer. */
  readonly trace: ChainRecord | undefined;
}
