/**
 * The handle of a running swarm: from `startSwarm` for a swarm of this process, from `connectSwarm` for one of another
 * process. Methods take one object and answer asynchronously on both; `operations.ts` describes the wire.
 */
import type {
  AgentInstance,
  ApprovalOutcome,
  ExtensionStatusChanged,
  GoondanError,
  JsonObject,
  TurnDelta,
} from '@goondan/types';
import type { PlanReconcile } from '../config/plan-reconcile.ts';
import type { ApprovalRecord } from '../workspace/approvals/approval-record.ts';
import type { LogLine } from '../ports/log-line.ts';
import type { TurnOutcome } from '../ports/turn-outcome.ts';
import type { ForkedInstance, ForkOptions } from '../workspace/journal/fork-instance.ts';
import type { DeletedInstance, DeleteOptions } from '../workspace/journal/journal.ts';

/** One instance of an agent. */
export interface InstanceAddress {
  readonly agent: string;
  readonly instanceKey: string;
}

/** A choice of instances: all, those of one agent, or one. */
export type InstanceChoice = Partial<InstanceAddress>;

/** Input for an agent. */
export interface Delivery {
  /** The name of the agent; the entry agent when absent. */
  readonly agent?: string;
  /** `default` when absent. */
  readonly instanceKey?: string;
  readonly input?: string;
  /** The id of the event: the same id again is the same event; generated when absent. */
  readonly id?: string;
  /** The name of your program, for the history: the event's source is `{ kind: 'cli', name }`; `control` when absent. */
  readonly client?: string;
  readonly metadata?: JsonObject;
  readonly auth?: JsonObject;
  /** 32 hexadecimal digits; generated when absent. */
  readonly traceId?: string;
  /** The asking span of that trace: 16 hexadecimal digits. */
  readonly parentSpanId?: string;
  /** False when the caller does not record the trace. */
  readonly isSampled?: boolean;
}

/** The event is on disk and will be handled, even after a crash. */
export interface Acceptance extends InstanceAddress {
  readonly accepted: true;
  readonly eventId: string;
  readonly turnId: string;
  readonly traceId: string;
  /** True when an event with this id had been accepted before; nothing was added. */
  readonly duplicate: boolean;
}

/** The end of a turn. */
export interface TurnEnd extends InstanceAddress, TurnOutcome {
  readonly eventId: string;
  readonly traceId: string;
}

/** An event of a swarm for its watchers. */
export type SwarmNotice =
  | DeltaNotice
  | RuntimeEventNotice
  | { readonly type: 'turn.ended'; readonly end: TurnEnd }
  | { readonly type: 'log'; readonly line: LogLine }
  | ApprovalNotice
  | InstanceNotice
  /** The watcher was too slow: this many notices before this one were dropped. */
  | { readonly type: 'dropped'; readonly count: number };

export interface DeltaNotice {
  readonly type: 'delta';
  readonly at: InstanceAddress;
  readonly eventId: string;
  readonly delta: TurnDelta;
  /**
   * Present on the backlog of a late watcher, which covers the output of its step so far: `all` of it, or only the
   * `end`, because the beginning is not kept.
   */
  readonly soFar?: 'all' | 'end';
}

/** `turn.started`, `step.completed`, `tool.called`, …, as in `runtime-events.jsonl`. */
export interface RuntimeEventNotice {
  readonly type: 'runtime.event';
  readonly at: InstanceAddress;
  readonly name: string;
  readonly payload: JsonObject;
}

/** A tool call waits for approval, or no longer does. Never dropped for a slow watcher. */
export interface ApprovalNotice {
  readonly type: 'approval';
  /** `withdrawn`: its turn ended first, and no answer is needed. */
  readonly state: 'asked' | 'decided' | 'withdrawn';
  readonly at: InstanceAddress;
  readonly approval: ApprovalSummary;
  /** Present when it is decided. */
  readonly outcome?: ApprovalOutcome;
}

/** A conversation changed outside of a turn. Never dropped for a slow watcher. */
export interface InstanceNotice {
  readonly type: 'instance';
  readonly at: InstanceAddress;
  /** `forked`: a new conversation; `reset`: started over; `deleted`: removed. */
  readonly change: 'forked' | 'reset' | 'deleted';
}

/** One tool call that waits for approval. */
export type ApprovalSummary = Omit<ApprovalRecord, 'key' | 'answer'>;

/** The decision about one tool call. */
export interface ApprovalReply {
  readonly id: string;
  /** The name of the person, for the record and for the model; `control` when absent. */
  readonly by?: string;
  /** A text for the model, if it is denied. */
  readonly note?: string;
}

/** The filter of a watch; an empty one passes everything. */
export interface WatchFilter {
  readonly agent?: string;
  readonly instanceKey?: string;
  readonly eventId?: string;
  readonly types?: readonly SwarmNotice['type'][];
  /** True to begin with the backlog of running turns: their beginning, their tools, the output of their step. */
  readonly soFar?: boolean;
}

export interface InstanceStatus extends InstanceAddress {
  readonly status: AgentInstance['status'];
  /** The process id, if it has a process. */
  readonly pid?: number;
  /** The number of accepted events whose turn is not over. */
  readonly queued: number;
  /** The number of processes that died since it was last healthy. */
  readonly crashes: number;
  /** The reason why it does not start. */
  readonly problem?: string;
  /** The number of its tool calls that wait for approval; absent when there are none. */
  readonly approvals?: number;
  /** The statuses of its extensions, for example of MCP servers; absent when there are none, or it has no process. */
  readonly extensions?: readonly ExtensionStatusChanged[];
}

export interface ConnectionStatus {
  readonly connection: string;
  readonly status: 'starting' | 'listening' | 'waiting' | 'stopped';
  readonly pid?: number;
  readonly crashes: number;
  readonly problem?: string;
}

export interface SwarmStatus {
  readonly swarm: string;
  readonly workspaceId: string;
  readonly pid: number;
  readonly startedAt: string;
  readonly version: string;
  readonly entryAgent: string;
  readonly agents: readonly string[];
  /** Instances that are running or have work; `instances()` also lists the sleeping ones. */
  readonly instances: readonly InstanceStatus[];
  readonly connections: readonly ConnectionStatus[];
}

export interface DeadLetterSummary extends InstanceAddress {
  readonly eventId: string;
  readonly input?: string;
  readonly crashes: number;
  readonly reason: string;
  readonly deadAt: string;
}

/**
 * **Errors** — those of the swarm, with their code, message and suggestion. From another process also
 * `E_CONTROL_CLOSED` when the swarm is gone, `E_CONTROL_SILENT` when it is silent, `E_CONTROL_VERSION` when it uses
 * another protocol, `E_CONTROL_ANSWER` when this version does not understand its answer.
 */
export interface Swarm {
  /** Delivers an input; resolves when it is durable. */
  deliver(delivery: Delivery): Promise<Acceptance>;
  /**
   * Delivers an input, reports the notices of its turn, and resolves with its end, even of a failed or cancelled turn.
   * Rejects when the input is not accepted, before `onAccepted`. Aborting `signal` cancels the turn.
   */
  ask(delivery: Delivery, options?: AskOptions): Promise<TurnEnd>;
  /** Starts a watch; from the moment it resolves no notice is missed. `listener` must not throw. */
  watch(filter: WatchFilter, listener: (notice: SwarmNotice) => void): Promise<SwarmWatch>;
  /**
   * Cancels the turn of an event, running or pending; without an id, the running turn. False when there is none.
   * Resolves when the cancel is durable: the turn ends as cancelled, even if the swarm dies first.
   */
  cancel(turn: InstanceChoice & { readonly eventId?: string; readonly reason?: string }): Promise<boolean>;
  status(): Promise<SwarmStatus>;
  /** Lists all instances, including sleeping ones. */
  instances(): Promise<readonly InstanceStatus[]>;
  /**
   * Deletes everything of an instance between turns, even if the swarm no longer has its agent. Rejects while inputs
   * are pending, unless `force`: then they are lost, and waiting callers get an error. A later event starts a new
   * conversation, even with a known id.
   */
  deleteInstance(instance: InstanceAddress & DeleteOptions): Promise<DeletedInstance>;
  /**
   * Creates another instance of the same agent that continues from a moment of this conversation. Rejects when the key
   * is in use.
   */
  forkInstance(instance: InstanceAddress & ForkOptions): Promise<ForkedInstance>;
  deadLetters(choice?: InstanceChoice): Promise<readonly DeadLetterSummary[]>;
  /** Accepts the event again. False when there is no such letter. */
  retryDeadLetter(letter: InstanceAddress & { readonly eventId: string }): Promise<boolean>;
  dropDeadLetter(letter: InstanceAddress & { readonly eventId: string }): Promise<boolean>;
  /** Lists the tool calls that wait for approval, oldest first. */
  approvals(): Promise<readonly ApprovalSummary[]>;
  /**
   * Approves a call, with exactly its arguments. Resolves when the answer is durable; false when none waits under this
   * id.
   */
  approve(reply: ApprovalReply): Promise<boolean>;
  deny(reply: ApprovalReply): Promise<boolean>;
  /**
   * Replaces processes between turns; `fresh` resets their conversations (the archive keeps the old ones). Returns the
   * number of replaced processes.
   */
  restart(choice?: InstanceChoice & { readonly fresh?: boolean }): Promise<number>;
  /**
   * Reads the plan again and applies its changes: processes of changed agents are replaced between turns, all others
   * stay. Changed parts are started on trial first; a failed reload changes nothing. Returns the changes as identities:
   * `Agent/coder`.
   */
  reload(): Promise<PlanReconcile>;
  /** Drains and ends everything. Resolves when nothing is left; a second call may shorten the grace. */
  stop(options?: StopOptions): Promise<void>;
  /** Resolves when the swarm is stopped, on request or not; from another process, however it went away. */
  readonly stopped: Promise<void>;
  /**
   * The reason of a stop that was not requested: `E_FENCED` when its workspace was removed or replaced. Only for a
   * swarm that this program started.
   */
  readonly failure?: GoondanError | undefined;
}

export interface AskOptions {
  readonly signal?: AbortSignal;
  /**
   * True cancels the turn when this process dies or loses its connection to the swarm. False when absent: the turn
   * continues.
   */
  readonly cancelOnDisconnect?: boolean;
  /** Called once after `signal` aborts, when the cancel is durable: the turn will not continue, even after a crash. */
  readonly onCancelled?: () => void;
  /** Called once, before anything else, when the event is on disk. */
  readonly onAccepted?: (acceptance: Acceptance) => void;
  /** Receives notices of this turn only. */
  readonly onNotice?: (notice: SwarmNotice) => void;
}

export interface SwarmWatch {
  readonly end: () => void;
  /** Resolves when the swarm stopped or `end` was called; rejects when the connection was lost. */
  readonly ended: Promise<void>;
}

export interface StopOptions {
  /** The grace for running turns; the swarm's own when absent. */
  readonly graceMs?: number;
}
