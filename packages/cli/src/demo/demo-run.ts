import type { ChainRecord } from '@goondan/runtime/history';
import type { TurnReport } from '../run/turn-report.ts';

/** The output of `gdn demo --json`. Fields are added, never renamed. */
export interface DemoRun extends TurnReport {
  /**
   * The chain of the turn, with the turns of called agents in `called` of the calls that asked for them. Absent when
   * nothing was recorded: `GOONDAN_TRACE=off`.
   */
  readonly trace: ChainRecord | undefined;
}
