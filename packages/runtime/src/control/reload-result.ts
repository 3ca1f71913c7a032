/** The result of a reload, as the swarm reports it, and the report of an earlier one. */
import type { PlanReconcile } from '../config/plan-reconcile.ts';
import type { PartChange } from '../config/reconcile-agent.ts';
import type { FrameError } from '../ipc/check/frame-error.ts';
import type { InstanceAddress } from './swarm.ts';

export interface ReloadResult extends PlanReconcile {
  /** The changed agents, part by part. */
  readonly agents: readonly AgentChange[];
  /** The names of the changed fields of the swarm, such as `entryAgent` or `policy.maxKept`; absent without any. */
  readonly fields?: readonly string[];
  /** The instances that did not start before and may try again, even if nothing has changed; absent without any. */
  readonly retried?: readonly InstanceAddress[];
}

/** The change of one agent. */
export interface AgentChange {
  readonly agent: string;
  /** The parts in the order of the new plan; removed parts come last. */
  readonly parts: readonly PartChange[];
  /** True if retained parts are in another order. */
  readonly reordered?: boolean;
  /** The reason why its processes are replaced between turns. When absent, its processes are changed in place. */
  readonly replaced?: string;
  /** The keys of instances whose process is replaced between turns, because it has had the most changes. */
  readonly renewed?: readonly string[];
  /** The extensions whose kept connections end, because they are gone or other ones. A keeper that is in use ends later. */
  readonly ended?: readonly string[];
  /** The keys of instances whose process was already asked to end after the running turn. */
  readonly leaving?: readonly string[];
  /** True if the agent was removed. It is listed only if it still finishes a turn. */
  readonly removed?: boolean;
  /**
   * The keys of instances that were busy. They take the change after their step, or after their turn if their process is
   * replaced. Those of a removed agent end after their turn.
   */
  readonly finishing: readonly string[];
}

/** The changeset that a change of the swarm comes from. */
export interface ReportedChangeset {
  readonly id: string;
  /** The agent that made the changeset. */
  readonly agent: string;
  /** True if the change took the changeset back. */
  readonly undone?: boolean;
  /** The person who approved the changeset or took it back, if one is known. */
  readonly by?: string;
}

/** A change of the running swarm by a reload or a changeset, or a refused one. */
export interface ChangeReport {
  /** The time, as ISO 8601 text. */
  readonly at: string;
  readonly message: string;
  /** Absent if the change does not come from a changeset. */
  readonly changeset?: ReportedChangeset;
  /** The changed agents; absent when the change was refused. */
  readonly agents?: readonly AgentChange[];
  /** The reason of the refusal; absent when the change is in force. */
  readonly error?: FrameError;
}
