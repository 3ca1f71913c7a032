import type { ApprovalAnswerOptions, ApprovalSummary, SwarmNotice, WatchFilter } from '@goondan/runtime';

/** A swarm whose tool calls wait for people: one of this process, or one that was reached. */
export interface ApprovalSwarm {
  approvals(): Promise<readonly ApprovalSummary[]>;
  approve(id: string, options?: ApprovalAnswerOptions): Promise<boolean>;
  deny(id: string, options?: ApprovalAnswerOptions): Promise<boolean>;
  /** Gives what ends it: at once, or when nothing is missed any more. */
  watch(filter: WatchFilter, listener: (notice: SwarmNotice) => void): Unwatch | Promise<Unwatch>;
}

type Unwatch = (() => void) | { end(): void };
