/** The result of a reload, as the swarm reports it, and the report of an earlier one. */
import type { PlanReconcile } from '../config/plan-reconcile.ts';
import type { PartChange } from '../config/reconcile-agent.ts';
import type { FrameError } from '../ipc/check/frame-error.ts';

export interface ReloadResult extends PlanReconcile {
  /** The changed agents, part by part. */
  readonly agents: readonly AgentChange[];
}

/** The change of one agent. */
export interface AgentChange {
  readonly agent: string;
  /** The parts in the order of the new plan; removed parts come last. */
  readonly parts: readonly PartChange[];
  /** The reason why its processes are replaced between turns. When absent, its processes are changed in place. */
  readonly replaced?: string;
  /** The keys of instances whose process is replaced between turns, because it has had the most changes. */
  readonly renewed?: readonly string[];
  /** The extensions whose kept connections end, because they are gone or other ones. A keeper that is in use ends later. */
  readonly ended?: readonly string[];
  /**
   * The keys of instances that were busy. They take the change after their step, or after their turn if their process is
   * replaced.
   */
  readonly finishing: readonly string[];
}

/** A reload that changed something, or was refused. */
export interface ChangeReport {
  /** The time, as ISO 8601 text. */
  readonly at: string;
  readonly message: string;
  /** The changed agents; absent when the change was refused. */
  readonly agents?: readonly AgentChange[];
  /** The reason of the refusal; absent when the change is in force. */
  readonly error?: FrameError;
}
