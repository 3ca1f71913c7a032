/**
 * The first message to an agent process: its identity, its plan, and where its conversation is stored. The message is
 * JSON.
 */
import type { AgentAddress, AgentCard, ConnectionCard, JsonValue } from '@goondan/types';
import type { TelemetrySettings } from './telemetry-settings.ts';
import type { ReplaySource } from '../trace/replay.ts';
import type { WatchedKind } from '../ipc/to-agent.ts';
import type { TurnNode } from '../workspace/records/frame.ts';
import type { DeclaredAgent } from './declared-agent.ts';

export interface AgentStart {
  readonly address: AgentAddress;
  readonly agent: DeclaredAgent;
  /** The name of the swarm; absent for an agent that runs alone. */
  readonly swarmName?: string;
  /** The agents that this agent may call. */
  readonly agents: readonly AgentCard[];
  /** The connections whose events can reach this agent; none when absent. */
  readonly connections?: readonly ConnectionCard[];
  readonly store: StoreStart;
  /** True if nothing of the conversation has been written yet. The first turn then reads nothing. */
  readonly isNew?: boolean;
  /** The states of extensions in a new conversation, for an agent on trial; none when absent. */
  readonly states?: Readonly<Record<string, JsonValue>>;
  /** Secrets that the agent has in other plans of this run only; they are masked, too. None when absent. */
  readonly masked?: readonly string[];
  /** The working folder, to which the process changes. It must exist. */
  readonly cwd: string;
  /** Where to export the spans of the agent's turns. When absent, no spans are exported. */
  readonly telemetry?: TelemetrySettings;
  /** The kinds of frames that somebody watches when the process starts; none when absent. */
  readonly watched?: readonly WatchedKind[];
  /** If set, the process replays this recorded turn, reports the result and exits. It accepts no other input. */
  readonly replay?: ReplaySource;
  /** The changes of the plan between the steps of the replayed turn, in order; none when absent. */
  readonly changes?: readonly ReplayedChange[];
}

/**
 * The place of the conversation: files that the process writes itself, or a store elsewhere, which the process reaches
 * through its channel. The process gets no address of such a store. `newEpoch`: the epoch of the owner's claim, for a new
 * conversation, so that its first turn reads nothing. `node`: the node of the process, among those that share the store.
 */
export type StoreStart =
  | { readonly stateRoot: string; readonly workspaceId: string }
  | { readonly isElsewhere: true; readonly newEpoch?: number; readonly node?: TurnNode };

/** A change of the plan in a replayed turn. */
export interface ReplayedChange {
  /** The index of the first step with the other plan. */
  readonly fromStep: number;
  readonly agent: DeclaredAgent;
}
