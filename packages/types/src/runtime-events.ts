/**
 * The runtime events for `api.events` listeners. Each has one payload object; times are ISO strings, durations in ms.
 */
import type { ApprovalOutcome } from './approval.ts';
import type { TokenUsage } from './model.ts';
import type { TurnError } from './turn.ts';

/** The span of an event, with the ids of OpenTelemetry. */
export interface SpanFields {
  /** The trace id of the turn's agent event, unchanged. */
  traceId: string;
  /** 16 lowercase hexadecimal digits. The same for all events of one turn, step or tool call, also after a crash. */
  spanId: string;
  /**
   * For a turn, the span of the agent that asked for it; for a step, that of its turn; for a tool call, that of its
   * caller.
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
  usage: TokenUsage;
  /** True when the response is incomplete, as in its result. */
  truncated?: boolean;
}
export interface TurnFailed extends TurnStarted {
  stepCount: number;
  duration: number;
  error: TurnError;
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
  /** The requested arguments as JSON, for people: secrets masked, cut after 200 characters. */
  args: string;
  stepId: string;
  turnId: string;
  agentName: string;
  timestamp: string;
}
/** The call's chain finished, with a result of either status. */
export interface ToolCompleted extends ToolCalled {
  status: 'ok' | 'error';
  duration: number;
  /** The error of an error result. Its texts are cut after 1,000 characters. */
  error?: TurnError;
}
/** The call's chain threw; the model gets an error result. */
export interface ToolFailed extends ToolCalled {
  duration: number;
  error: TurnError;
}

/** The call waits for approval. Published again when a waiting turn is resumed. */
export interface ApprovalAsked extends ToolCalled {
  reason: string;
}
export interface ApprovalDecided extends ToolCalled, Omit<ApprovalOutcome, 'note'> {}

/** The status of a service that an extension needs: a server, a device. */
export interface ExtensionStatus {
  /** `idle`: it will be connected when needed. `reconnecting`: it was lost, and is tried again. */
  state: 'idle' | 'connecting' | 'connected' | 'reconnecting' | 'failed';
  /** Its command or its address, without secrets. */
  target?: string;
  /** The reason why it is not connected, or why it was last lost. Cut after 2,000 characters. */
  problem?: string;
  /** The last lines it printed, oldest first. At most 10 are kept, 500 characters of each. */
  lines?: readonly string[];
  /** The number of losses since the agent started. */
  lost?: number;
  /** Names of the tools it offers now; absent while that is not known. */
  tools?: readonly string[];
  /** Its tools that are not offered, and why. At most 50 are kept. */
  withheld?: readonly { readonly name: string; readonly problem: string }[];
}

/**
 * An extension emitted `extension.status` with an `ExtensionStatus`. The runtime adds the extension, and masks secrets.
 */
export interface ExtensionStatusChanged extends ExtensionStatus {
  extension: string;
  agentName: string;
  instanceKey: string;
  /** The time of the report. */
  timestamp: string;
  /** The time of the change to this state. */
  since: string;
  /** The running turn at that time. */
  turnId?: string;
  traceId?: string;
}

export interface RuntimeEvents {
  'turn.started': TurnStarted;
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
  'extension.status': ExtensionStatusChanged;
}

export type RuntimeEventName = keyof RuntimeEvents;
