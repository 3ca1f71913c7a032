/**
 * The handle of a running swarm: `startSwarm` gives it for a swarm of this process, `connectSwarm` for one that another
 * process runs. Methods take one object and answer asynchronously on both; `operations.ts` says how they travel.
 */
import type {
  AgentInstance,
  ApprovalOutcome,
  ExtensionStatusChanged,
  GoondanError,
  JsonObject,
  TokenUsage,
  TurnDelta,
  TurnResult,
} from '@goondan/types';
import type { PlanReconcile } from '../config/plan-reconcile.ts';
import type { ApprovalRecord } from '../workspace/approvals/approval-record.ts';
import type { LogLine } from '../ports/log-line.ts';
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
  /** The entry agent when absent. */
  readonly agent?: string;
  /** `default` when absent. */
  readonly instanceKey?: string;
  readonly input?: string;
  /** The same id again is the same event; made up when absent. */
  readonly id?: string;
  readonly metadata?: JsonObject;
  readonly auth?: JsonObject;
  /** 32 hexadecimal digits; made up when absent. */
  readonly traceId?: string;
  /** The span that asks, of that trace: 16 hexadecimal digits. */
  readonly parentSpanId?: string;
  /** False: whoever began the trace does not record it. */
  readonly isSampled?: boolean;
}

/** It is on disk: it will be handled, whatever happens. */
export interface Acceptance extends InstanceAddress {
  readonly accepted: true;
  readonly eventId: string;
  readonly turnId: string;
  readonly traceId: string;
  /** An event of this id had been accepted before; nothing was added. */
  readonly duplicate: boolean;
}

/** The end of a turn. */
export interface TurnEnd extends InstanceAddress {
  readonly eventId: string;
  readonly traceId: string;
  readonly result: TurnResult;
  readonly stepCount: number;
  readonly usage: TokenUsage;
}

/** What happens in a swarm, for whoever watches. */
export type SwarmNotice =
  | DeltaNotice
  | RuntimeEventNotice
  | { readonly type: 'turn.ended'; readonly end: TurnEnd }
  | { readonly type: 'log'; readonly line: LogLine }
  | ApprovalNotice
  | InstanceNotice
  /** The watcher did not keep up: so many notices before this one were let go. */
  | { readonly type: 'dropped'; readonly count: number };

export interface DeltaNotice {
  readonly type: 'delta';
  readonly at: InstanceAddress;
  readonly eventId: string;
  readonly delta: TurnDelta;
  /**
   * Present when it stands for all that its step has written before this watcher came: everything, or the `end` of it,
   * because the beginning is not kept.
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

/** A tool call waits for a person, or no longer does. Never let go for a watcher that does not keep up. */
export interface ApprovalNotice {
  readonly type: 'approval';
  /** `withdrawn`: its turn ended first, so that nobody needs to answer any more. */
  readonly state: 'asked' | 'decided' | 'withdrawn';
  readonly at: InstanceAddress;
  readonly approval: ApprovalSummary;
  /** Present when it is decided. */
  readonly outcome?: ApprovalOutcome;
}

/** A conversation changed in a way that is no turn. Never let go for a watcher that does not keep up. */
export interface InstanceNotice {
  readonly type: 'instance';
  readonly at: InstanceAddress;
  /** `forked`: it is a new one; `reset`: it began anew; `deleted`: it is gone. */
  readonly change: 'forked' | 'reset' | 'deleted';
}

/** One tool call that a person is asked about. */
export type ApprovalSummary = Omit<ApprovalRecord, 'key' | 'answer'>;

/** The decision about one tool call. */
export interface ApprovalReply {
  readonly id: string;
  /** Who decides, for the record and for the model; `control` when absent. */
  readonly by?: string;
  /** For the model to read, when it is denied. */
  readonly note?: string;
}

/** Everything when empty. */
export interface WatchFilter {
  readonly agent?: string;
  readonly instanceKey?: string;
  readonly eventId?: string;
  readonly types?: readonly SwarmNotice['type'][];
  /** Begins with what the turns that run have told so far: how they began, their tools, what their step has written. */
  readonly soFar?: boolean;
}

export interface InstanceStatus extends InstanceAddress {
  readonly status: AgentInstance['status'];
  /** Of its process, when it has one. */
  readonly pid?: number;
  /** Accepted events whose turn is not over. */
  readonly queued: number;
  /** Processes that died since it was last healthy. */
  readonly crashes: number;
  /** Why it does not start. */
  readonly problem?: string;
  /** Its tool calls that wait for a person; absent when none does. */
  readonly approvals?: number;
  /** How things are that its extensions need, MCP servers for example; absent when none says so, or it has no process. */
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
  /** Those that are running or have work; `instances()` has the sleeping ones too. */
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
 * **Errors** — those of the swarm, with their code, message and suggestion. From another process also `E_CONTROL_CLOSED`
 * when the swarm is gone, `E_CONTROL_SILENT` when it says nothing, `E_CONTROL_VERSION` when it speaks another protocol,
 * `E_CONTROL_ANSWER` when this version does not understand its answer.
 */
export interface Swarm {
  /** Resolves when it is durable. */
  deliver(delivery: Delivery): Promise<Acceptance>;
  /**
   * Delivers, tells what its turn does, and resolves with how it ended, a failed or cancelled turn too. Rejects when the
   * input is not accepted, before `onAccepted`. Aborting `signal` cancels the turn.
   */
  ask(delivery: Delivery, options?: AskOptions): Promise<TurnEnd>;
  /** Resolves when nothing is missed any more. `listener` must not throw. */
  watch(filter: WatchFilter, listener: (notice: SwarmNotice) => void): Promise<SwarmWatch>;
  /**
   * Cancels the event's turn, also one that has not begun; without an id, the running turn. False when there is none.
   * Resolves when that is durable: the turn ends as cancelled, also when the swarm dies before it has.
   */
  cancel(turn: InstanceChoice & { readonly eventId?: string; readonly reason?: string }): Promise<boolean>;
  status(): Promise<SwarmStatus>;
  /** Those that sleep, too. */
  instances(): Promise<readonly InstanceStatus[]>;
  /**
   * Deletes everything of an instance, also of an agent that the swarm no longer has, between turns. Refuses while
   * accepted inputs are not handled, unless `force`: then they are lost, and who waits for them is told. Afterwards an
   * event begins a new conversation, also one whose id was known before.
   */
  deleteInstance(instance: InstanceAddress & DeleteOptions): Promise<DeletedInstance>;
  /**
   * Makes another instance of the same agent, whose conversation goes on from a moment of this one's. Refuses when there is
   * one under that key.
   */
  forkInstance(instance: InstanceAddress & ForkOptions): Promise<ForkedInstance>;
  deadLetters(choice?: InstanceChoice): Promise<readonly DeadLetterSummary[]>;
  /** Accepts the event again. False when there is no such letter. */
  retryDeadLetter(letter: InstanceAddress & { readonly eventId: string }): Promise<boolean>;
  dropDeadLetter(letter: InstanceAddress & { readonly eventId: string }): Promise<boolean>;
  /** The tool calls that wait for a person, oldest first. */
  approvals(): Promise<readonly ApprovalSummary[]>;
  /** Lets that call go on, with exactly these arguments. Resolves when it is durable; false when none waits under this id. */
  approve(reply: ApprovalReply): Promise<boolean>;
  deny(reply: ApprovalReply): Promise<boolean>;
  /** Replaces processes between turns; `fresh` starts their conversations anew (what was is kept in the archive). Returns how many. */
  restart(choice?: InstanceChoice & { readonly fresh?: boolean }): Promise<number>;
  /**
   * Reads what the swarm is made of again and changes what has changed: processes of changed agents are replaced between
   * turns, all others stay. Changed parts are started on trial first; a reload that fails changes nothing. Told as
   * identities: `Agent/coder`.
   */
  reload(): Promise<PlanReconcile>;
  /** Drains and ends everything. Resolves when nothing is left; asked again it hurries. */
  stop(options?: StopOptions): Promise<void>;
  /** Resolves when the swarm is stopped, whoever asked for it; from another process, however it went away. */
  readonly stopped: Promise<void>;
  /** Why the swarm stopped by itself: `E_FENCED` when its workspace was removed or replaced. Only for a swarm of this process. */
  readonly failure?: GoondanError | undefined;
}

export interface AskOptions {
  readonly signal?: AbortSignal;
  /** Cancels the turn also when this process dies or loses its connection to the swarm. False when absent: the turn goes on. */
  readonly cancelOnDisconnect?: boolean;
  /** Told once, after `signal` has aborted: that it is durable, so that the turn does not go on whatever happens now. */
  readonly onCancelled?: () => void;
  /** Told once, before anything else, when the event is on disk. */
  readonly onAccepted?: (acceptance: Acceptance) => void;
  /** Hears only of this turn. */
  readonly onNotice?: (notice: SwarmNotice) => void;
}

export interface SwarmWatch {
  readonly end: () => void;
  /** Resolves when the swarm stopped or `end` was called; rejects when the connection was lost. */
  readonly ended: Promise<void>;
}

export interface StopOptions {
  /** How long running turns may take; what the swarm says when absent. */
  readonly graceMs?: number;
}
