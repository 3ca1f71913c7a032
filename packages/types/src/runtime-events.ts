/**
 * The runtime events that `api.events` listeners get. Each event has one payload object. Times are ISO strings,
 * durations are in milliseconds.
 */
import type { AgentEventSource } from './agent-event.ts';
import type { ApprovalOutcome } from './approval.ts';
import type { TokenUsage } from './model.ts';
import type { TurnError } from './turn.ts';

/** The OpenTelemetry span that an event belongs to. */
export interface SpanFields {
  /** The trace id of the agent event that started the turn, unchanged. */
  traceId: string;
  /**
   * The id of the span, 16 lowercase hexadecimal digits. All events of one turn, step or tool call have the same span
   * id, even after a crash.
   */
  spanId: string;
  /**
   * The parent span. For a turn, this is the span of the agent that requested the turn; for a step, the span of the
   * step's turn; for a tool call, the span of the caller.
   */
  parentSpanId?: string;
}

export interface TurnStarted extends SpanFields {
  turnId: string;
  agentName: string;
  instanceKey: string;
  timestamp: string;
}
export interface TurnCompleted extends TurnStarted {
  stepCount: number;
  duration: number;
  /** The tokens of the turn's own model calls and of the agents that it called. */
  usage: TokenUsage;
  /** The part of `usage` that called agents used; absent if there is none. */
  called?: TokenUsage;
  /** True when the response is incomplete, as in the turn's result. */
  truncated?: boolean;
}
export interface TurnFailed extends TurnStarted {
  stepCount: number;
  duration: number;
  /** The tokens that the turn used until it failed, as in `turn.completed`. */
  usage: TokenUsage;
  called?: TokenUsage;
  error: TurnError;
}

/** The turn has taken the input of another event, which was delivered `now`, between two steps. */
export interface TurnSteered extends TurnStarted {
  /** The event whose input it is. */
  eventId: string;
  /** The message that the input became. */
  messageId: string;
  source: AgentEventSource;
  /** The index of the step that sees the message first. */
  stepIndex: number;
}

export interface StepStarted extends SpanFields {
  stepId: string;
  stepIndex: number;
  turnId: string;
  agentName: string;
  timestamp: string;
}
export interface StepCompleted extends StepStarted {
  toolCallCount: number;
  duration: number;
}
export interface StepFailed extends StepStarted {
  duration: number;
  error: TurnError;
  /** True when the runtime runs the step again. */
  willRetry: boolean;
}

export interface ToolCalled extends SpanFields {
  toolCallId: string;
  toolName: string;
  /** The requested arguments as JSON, for display: secrets are masked, and the text is cut after 200 characters. */
  args: string;
  stepId: string;
  turnId: string;
  agentName: string;
  timestamp: string;
}
/** The tool call's chain finished, either with a result or with an error result. */
export interface ToolCompleted extends ToolCalled {
  status: 'ok' | 'error';
  duration: number;
  /** The error of an error result. Its texts are cut after 1,000 characters. */
  error?: TurnError;
}
/** The tool call's chain threw an error, and the model gets an error result. */
export interface ToolFailed extends ToolCalled {
  duration: number;
  error: TurnError;
}

/** The tool call waits for approval. The event is published again when a turn that waits for approval is resumed. */
export interface ApprovalAsked extends ToolCalled {
  reason: string;
}
export interface ApprovalDecided extends ToolCalled, Omit<ApprovalOutcome, 'note' | 'args'> {}

/** A model call waits for a limit of its model. */
export interface LimitReached extends SpanFields {
  modelRef: string;
  /** The limit in words, such as `concurrent: 3 of Model/main`. */
  limit: string;
  /** The step of the call; the id of the turn if a turn layer makes the call. */
  stepId: string;
  turnId: string;
  agentName: string;
  timestamp: string;
}
/** The wait is over: the call begins, or it is given up. */
export interface LimitWaited extends LimitReached {
  /** The time of the wait. */
  duration: number;
}

/** The status of a service that an extension depends on, such as a server or a device. */
export interface ExtensionStatus {
  /**
   * `idle`: the extension connects when it needs the service. `reconnecting`: the connection was lost, and the
   * extension tries to connect again.
   */
  state: 'idle' | 'connecting' | 'connected' | 'reconnecting' | 'failed';
  /** The command or the address of the service, without secrets. */
  target?: string;
  /** The reason why the service is not connected, or why the last connection was lost. Cut after 2,000 characters. */
  problem?: string;
  /** The last lines that the service printed, oldest first. At most 10 lines of 500 characters each. */
  lines?: readonly string[];
  /** How often the connection was lost since the agent started. */
  lost?: number;
  /** Names of the tools that the service offers now; absent while they are unknown. */
  tools?: readonly string[];
  /** Tools of the service that are withheld from the model, with the reason for each. At most 50. */
  withheld?: readonly { readonly name: string; readonly problem: string }[];
}

/**
 * An extension emitted `extension.status` with an `ExtensionStatus`. The runtime adds the extension's name and masks
 * secrets.
 */
export interface ExtensionStatusChanged extends ExtensionStatus {
  extension: string;
  agentName: string;
  instanceKey: string;
  /** The time when the status was reported. */
  timestamp: string;
  /** The time when the service changed to this state. */
  since: string;
  /** The turn that was running when the status was reported. */
  turnId?: string;
  traceId?: string;
}

/** The payload of the runtime events `changeset.commit`, `changeset.rejected` and `changeset.error`. */
export interface ChangesetEvent extends SpanFields {
  readonly type: 'swarm.event';
  readonly kind: 'changeset.commit' | 'changeset.rejected' | 'changeset.error';
  readonly recordedAt: string;
  /** The agent and the key of its conversation: `agent/key`. */
  readonly instanceId: string;
  readonly instanceKey: string;
  readonly swarmName: string;
  readonly agentName?: string;
  /** The turn whose tool call committed the changeset. */
  readonly turnId: string;
  readonly data: {
    readonly changesetId: string;
    readonly baseRef?: string;
    readonly newRef?: string;
    readonly status: 'ok' | 'rejected' | 'error';
    readonly reason?: string;
    readonly message?: string;
  };
}

export interface RuntimeEvents {
  'turn.started': TurnStarted;
  'turn.steered': TurnSteered;
  'turn.completed': TurnCompleted;
  'turn.failed': TurnFailed;
  'step.started': StepStarted;
  'step.completed': StepCompleted;
  'step.failed': StepFailed;
  'tool.called': ToolCalled;
  'tool.completed': ToolCompleted;
  'tool.failed': ToolFailed;
  'approval.asked': ApprovalAsked;
  'approval.decided': ApprovalDecided;
  'limit.reached': LimitReached;
  'limit.waited': LimitWaited;
  'extension.status': ExtensionStatusChanged;
  'changeset.commit': ChangesetEvent;
  'changeset.rejected': ChangesetEvent;
  'changeset.error': ChangesetEvent;
}

export type RuntimeEventName = keyof RuntimeEvents;
