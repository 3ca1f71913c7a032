/**
 * The handle of a running swarm. `startSwarm` returns it for a swarm that this program starts, and `connectSwarm` for a
 * swarm of another process. In both cases, most methods take one object, and all are asynchronous. `operations.ts`
 * describes the protocol.
 */
import type {
  AgentInstance,
  ApprovalOutcome,
  ExtensionStatus,
  ExtensionStatusChanged,
  GoondanError,
  InputPart,
  JsonObject,
  JsonValue,
  TurnDelta,
  TurnResult,
  TypedDemand,
} from '@goondan/types';
import type { ChangeReport, ReloadResult } from './reload-result.ts';
import type { QuestionReply } from '../questions/check-reply.ts';
import type { GrantRevocation, GrantSummary } from '../questions/grant-summary.ts';
import type { QuestionSummary } from '../questions/question-record.ts';
import type { LogLine } from '../ports/log-line.ts';
import type { TurnOutcome } from '../ports/turn-outcome.ts';
import type { ForkedInstance, ForkOptions } from '../workspace/journal/fork-instance.ts';
import type { DeletedInstance, DeleteOptions } from '../workspace/journal/journal.ts';

/** One instance of an agent. */
export interface InstanceAddress {
  readonly agent: string;
  readonly instanceKey: string;
}

/** Selects instances: all, those of one agent, or a single one. */
export type InstanceChoice = Partial<InstanceAddress>;

/** Input for an agent. */
export interface Delivery {
  /** The name of the agent; the entry agent when absent. */
  readonly agent?: string;
  /** The key of the instance; `default` when absent. */
  readonly instanceKey?: string;
  readonly input?: string;
  /** Images, files and further text, after `input`. Their bytes are stored before the input is accepted. */
  readonly content?: readonly InputPart[];
  /** If true, the running turn takes the input before its next step. Otherwise, or without one, it has a turn of its own. */
  readonly now?: boolean;
  /**
   * The id of the event, generated when absent. A second delivery with the same id is a duplicate and adds nothing.
   */
  readonly id?: string;
  /**
   * The name of your program, for the history; `control` when absent. The event's source is `{ kind: 'cli', name }`.
   */
  readonly client?: string;
  readonly metadata?: JsonObject;
  /**
   * The demand for an answer that fits a schema, which wins over that of the agent: `{ schema, retries }`. `result.output` of
   * the turn then has the answer.
   */
  readonly output?: TypedDemand;
  readonly auth?: JsonObject;
  /** The trace id: 32 hexadecimal digits; generated when absent. */
  readonly traceId?: string;
  /** The caller's span in that trace: 16 hexadecimal digits. */
  readonly parentSpanId?: string;
  /** False if the caller does not record the trace. */
  readonly isSampled?: boolean;
}

/** Confirms that the event is on disk and will be handled, even after a crash. */
export interface Acceptance extends InstanceAddress {
  readonly accepted: true;
  readonly eventId: string;
  readonly turnId: string;
  readonly traceId: string;
  /** True if an event with this id was already accepted earlier. In this case, nothing was added. */
  readonly duplicate: boolean;
}

/** The end of a turn. `Output`: the type of the answer, if it had to fit a schema. */
export interface TurnEnd<Output = JsonValue> extends InstanceAddress, Omit<TurnOutcome, 'result'> {
  readonly result: Omit<TurnResult, 'output'> & { readonly output?: Output };
  readonly eventId: string;
  readonly traceId: string;
}

/** An event of a swarm for its watchers. */
export type SwarmNotice =
  | DeltaNotice
  | RuntimeEventNotice
  | { readonly type: 'turn.ended'; readonly end: TurnEnd }
  | { readonly type: 'log'; readonly line: LogLine }
  | QuestionNotice
  | InstanceNotice
  /** The watcher was too slow: `count` notices before this one were dropped. */
  | { readonly type: 'dropped'; readonly count: number };

export interface DeltaNotice {
  readonly type: 'delta';
  readonly at: InstanceAddress;
  readonly eventId: string;
  readonly delta: TurnDelta;
  /**
   * Present in the backlog of a watcher that connected late. The delta then has the output of its step so far: `all` of
   * it, or only its `end`, if the beginning was too long to keep.
   */
  readonly soFar?: 'all' | 'end';
}

/** A runtime event, as in the files of runtime events: `turn.started`, `step.completed`, `tool.called`, … */
export interface RuntimeEventNotice {
  readonly type: 'runtime.event';
  readonly at: InstanceAddress;
  readonly name: string;
  readonly payload: JsonObject;
}

/** A question waits for an answer, or no longer waits for it. This notice is never dropped, even if the watcher is slow. */
export interface QuestionNotice {
  readonly type: 'question';
  /** `withdrawn`: the turn ended before an answer came, so none is needed. */
  readonly state: 'asked' | 'decided' | 'withdrawn';
  readonly at: InstanceAddress;
  readonly question: QuestionSummary;
  /** Present when the question is decided. The content of a form is left out. */
  readonly outcome?: ApprovalOutcome;
}

/** A conversation changed outside of a turn. This notice is never dropped, even if the watcher is slow. */
export interface InstanceNotice {
  readonly type: 'instance';
  readonly at: InstanceAddress;
  /**
   * `forked`: a new conversation was created. `reset`: the conversation was started over. `deleted`: it was removed.
   */
  readonly change: 'forked' | 'reset' | 'deleted';
}

/** The filter of a watch; an empty filter matches everything. */
export interface WatchFilter<Type extends SwarmNotice['type'] = SwarmNotice['type']> {
  readonly agent?: string;
  readonly instanceKey?: string;
  readonly eventId?: string;
  readonly types?: readonly Type[];
  /**
   * If true, the watch begins with the backlog: the start of each running turn, its tools, the output of its current
   * step, and the questions that wait for an answer.
   */
  readonly soFar?: boolean;
}

export interface InstanceStatus extends InstanceAddress {
  readonly status: AgentInstance['status'];
  /** The node that runs the instance, in a swarm with several nodes; absent when no node does. */
  readonly node?: string;
  /** The process id; absent when the instance has no process. */
  readonly pid?: number;
  /** The number of accepted events whose turn has not ended. */
  readonly queued: number;
  /** The number of the instance's processes that crashed since the instance was last healthy. */
  readonly crashes: number;
  /** The reason why the instance does not start. */
  readonly problem?: string;
  /** The number of the instance's questions that wait for an answer; absent when there are none. */
  readonly questions?: number;
  /** The limit of a model that a call waits for, such as `concurrent: 3 of Model/main`; absent when none waits. */
  readonly limitWait?: { readonly limit: string; readonly waitedMs: number };
  /** The code that last blocked a process of the instance, in words; absent after a process has ended as usual. */
  readonly lastBlocked?: { readonly code: string; readonly agoMs: number };
  /** The statuses of the instance's extensions, for example of MCP servers; absent when there are none, or no process. */
  readonly extensions?: readonly ExtensionStatusChanged[];
}

export interface ConnectionStatus {
  readonly connection: string;
  /** The node of this status, in a swarm with several nodes. */
  readonly node?: string;
  readonly status: 'starting' | 'listening' | 'waiting' | 'stopped';
  readonly pid?: number;
  readonly crashes: number;
  readonly problem?: string;
}

/** A kept connection: a process that holds the connection of an extension while processes of its agent come and go. */
export interface KeptStatus {
  readonly agent: string;
  /** The name of the extension in the agent. */
  readonly extension: string;
  /** The conversation that the connection belongs to; absent when all conversations of the agent share it. */
  readonly instanceKey?: string;
  readonly status: ConnectionStatus['status'];
  /** The process that holds the connection. */
  readonly pid?: number;
  /** The number of such processes that crashed since the last one was healthy. */
  readonly crashes: number;
  readonly problem?: string;
  /** The state of the connection; absent until the process has reported it. */
  readonly server?: ExtensionStatus & { readonly since: string };
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
  /** The kept connections; absent when there is none. */
  readonly kept?: readonly KeptStatus[];
  /** The latest changes of the swarm and the refused ones, newest first; absent when there are none. */
  readonly changes?: readonly ChangeReport[];
  /** The living nodes; absent when the state of the swarm is in files, because it has only one node then. */
  readonly nodes?: readonly NodeStatus[];
  /** The agents and connections that this node does not run, with the missing variables; absent when it runs all. */
  readonly missing?: readonly string[];
  /** Present if the swarm runs for one input, as `gdn run --input` does, and ends with its turn. A service may replace it. */
  readonly oneShot?: true;
}

/** A node of a swarm whose state is in a store that many nodes share. */
export interface NodeStatus {
  readonly name: string;
  readonly version: string;
  readonly since: string;
  /** The address of its control port. */
  readonly address?: string;
  /** The number of its processes. */
  readonly processes: number;
  /** The number of instances that it owns. */
  readonly instances: number;
  /** True if the node gives up its instances. */
  readonly isDraining?: boolean;
  /** The agents and connections that the node does not run, with the missing variables, as sentences. */
  readonly missing?: readonly string[];
  /** The reason why the node did not answer. The status has nothing else about it then. */
  readonly problem?: string;
}

export interface DeadLetterSummary extends InstanceAddress {
  readonly eventId: string;
  readonly input?: string;
  readonly crashes: number;
  readonly reason: string;
  readonly deadAt: string;
}

/** The type of the answer to a delivery: that of its schema, or else JSON. */
export type AnswerTo<Given> = Given extends { readonly output: { readonly schema: infer Schema } }
  ? Schema extends { readonly '~standard': { readonly types?: { readonly output: infer Output } | undefined } }
    ? Output
    : JsonValue
  : JsonValue;

/** Refuses fields that a delivery does not have. */
type OnlyFields<Given> = Given & { readonly [Field in Exclude<keyof Given, keyof Delivery>]: never };

/**
 * The handle of a running swarm. **Errors** — those of the swarm, with their code, message and suggestion. From another
 * process also `E_CONTROL_CLOSED` when the swarm has stopped, `E_CONTROL_SILENT` when it sends nothing,
 * `E_CONTROL_VERSION` when it uses another protocol, `E_CONTROL_ANSWER` when this version does not understand its
 * answer.
 */
export interface Swarm {
  /** Delivers an input. Resolves when the input is durable. */
  deliver(delivery: Delivery): Promise<Acceptance>;
  /**
   * Delivers an input, reports the notices of its turn, and resolves when the turn ends, also if it failed or was
   * cancelled. If the input is not accepted, rejects without calling `onAccepted`. Aborting `signal` cancels the turn. With
   * `output`, the answer is in `result.output`, and has the type of the schema.
   */
  ask<const Given extends Delivery>(
    delivery: OnlyFields<Given>,
    options?: AskOptions,
  ): Promise<TurnEnd<AnswerTo<Given>>>;
  /** Starts a watch. Once the promise resolves, the watcher misses no notice. `listener` must not throw. */
  watch<Type extends SwarmNotice['type'] = SwarmNotice['type']>(
    filter: WatchFilter<Type>,
    listener: (notice: Extract<SwarmNotice, { readonly type: NoInfer<Type> }>) => void,
  ): Promise<SwarmWatch>;
  /**
   * Cancels the running or pending turn of an event; without an event id, the running turn. `eventId` may also be the
   * id of the turn, whole or in its short form. The turn is first searched in the conversation `default` of the entry
   * agent, or in the given one; if `agent` or `instanceKey` is absent, then in all that the other one allows. Resolves
   * with false when there is no such turn, and otherwise when the cancel is durable: the turn then ends as cancelled,
   * even if the swarm dies first. **Errors** — `E_TRACE_AMBIGUOUS`.
   */
  cancel(turn: InstanceChoice & { readonly eventId?: string; readonly reason?: string }): Promise<boolean>;
  status(): Promise<SwarmStatus>;
  /** Lists all instances, including sleeping ones. */
  instances(): Promise<readonly InstanceStatus[]>;
  /**
   * Deletes an instance with all its data, between turns, even if the swarm no longer has its agent. Rejects while
   * inputs are pending. If `force` is true, deletes anyway: the pending inputs are lost, and callers that wait for them
   * get an error. A later event starts a new conversation, even if an event with the same id was handled before.
   */
  deleteInstance(instance: InstanceAddress & DeleteOptions): Promise<DeletedInstance>;
  /**
   * Creates another instance of the same agent that continues from a moment of this conversation. Rejects when the new
   * key is in use.
   */
  forkInstance(instance: InstanceAddress & ForkOptions): Promise<ForkedInstance>;
  deadLetters(choice?: InstanceChoice): Promise<readonly DeadLetterSummary[]>;
  /**
   * Accepts the event of a dead letter again. `eventId` may also be the id of the turn, whole or in its short form.
   * Resolves with false when the letter does not exist.
   */
  retryDeadLetter(letter: InstanceAddress & { readonly eventId: string }): Promise<boolean>;
  dropDeadLetter(letter: InstanceAddress & { readonly eventId: string }): Promise<boolean>;
  /** Lists the questions that people can answer now, oldest first. */
  questions(): Promise<readonly QuestionSummary[]>;
  /**
   * Answers a question. The answer is valid for exactly that which was asked. Resolves when it is durable. **Errors** —
   * `E_QUESTION_UNKNOWN`, `E_QUESTION_ENDED`, `E_QUESTION_CHANGED`, `E_QUESTION_REPLY`.
   */
  answer(reply: QuestionReply): Promise<void>;
  /** Lists the answers that people gave for always, oldest first. */
  grants(): Promise<readonly GrantSummary[]>;
  /** Removes an answer that was given for always. **Errors** — `E_QUESTION_UNKNOWN`; `E_QUESTION_ENDED` if it is revoked. */
  revoke(grant: GrantRevocation): Promise<void>;
  /**
   * Replaces the processes of the chosen instances between turns. If `fresh` is true, also resets their conversations;
   * the archive keeps the old conversations. A process that is starting for waiting input begins its turn first, and a
   * restart during another one joins it. Resolves with the number of replaced processes.
   */
  restart(choice?: InstanceChoice & { readonly fresh?: boolean }): Promise<number>;
  /**
   * Reads the plan again and applies its changes: running agents are changed in place at their next step, or replaced
   * between turns if the change needs another process. All others keep running. Changed parts are started on trial
   * first; a failed reload changes nothing. Resolves when the plan is in force, with the changes as identities, such as
   * `Agent/coder`, and part by part for each changed agent.
   */
  reload(): Promise<ReloadResult>;
  /** Drains and ends all processes. Resolves when no process is left. A second call can shorten the grace of the first. */
  stop(options?: StopOptions): Promise<void>;
  /**
   * Resolves when the swarm has stopped, on request or not. For a swarm of another process, also resolves when that
   * process died.
   */
  readonly stopped: Promise<void>;
  /**
   * The reason if the swarm stopped without a request: `E_FENCED` when the workspace was removed or replaced. Only a
   * swarm that this program started has this field.
   */
  readonly failure?: GoondanError | undefined;
}

/** The handle of a swarm whose agents have answers of these types, by agent name. */
export type SwarmWith<Outputs> = {
  ask<Agent extends keyof Outputs & string>(
    delivery: Omit<Delivery, 'output'> & { readonly agent: Agent; readonly output?: undefined },
    options?: AskOptions,
  ): Promise<TurnEnd<Outputs[Agent]>>;
} & Swarm;

export interface AskOptions {
  readonly signal?: AbortSignal;
  /**
   * If true, the turn is cancelled when this process dies or loses its connection to the swarm. When absent, the turn
   * continues.
   */
  readonly cancelOnDisconnect?: boolean;
  /**
   * Aborting it ends the wait, which rejects with the signal's reason. The turn goes on, unless `cancelOnDisconnect` is
   * true.
   */
  readonly left?: AbortSignal;
  /** If true, and the turn runs already, the notices begin with its backlog, as those of a watch. */
  readonly soFar?: boolean;
  /** Called once after `signal` aborts, when the cancel is durable: the turn will not continue, even after a crash. */
  readonly onCancelled?: () => void;
  /** Called once, when the event is on disk, before any other callback. */
  readonly onAccepted?: (acceptance: Acceptance) => void;
  /** Receives notices of this turn only. */
  readonly onNotice?: (notice: SwarmNotice) => void;
}

export interface SwarmWatch {
  readonly end: () => void;
  /** Resolves when the swarm has stopped or `end` was called; rejects when the connection was lost. */
  readonly ended: Promise<void>;
}

export interface StopOptions {
  /** The grace for running turns; the swarm's default when absent. */
  readonly graceMs?: number;
  /**
   * True if another process goes on with the work of a one-shot swarm: callers get an error that is `retryable`, and a
   * stop that has begun keeps its grace. **Errors** — `E_SWARM_RUNNING` for any other swarm.
   */
  readonly handover?: boolean;
  /** Aborting it ends the wait for a swarm of another process. The swarm stops anyway. */
  readonly left?: AbortSignal;
}
