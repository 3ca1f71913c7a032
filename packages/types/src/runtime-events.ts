/** What the runtime tells `api.events` listeners. One payload object each; times are ISO strings, durations in ms. */
import type { ApprovalOutcome } from './approval.ts';
import type { TokenUsage } from './model.ts';
import type { TurnError } from './turn.ts';

/** Which span an event is about, in the ids of OpenTelemetry. */
export interface SpanFields {
  /** The trace id of the turn's agent event, as it came. */
  traceId: string;
  /** 16 lowercase hexadecimal digits. The same for all events of one turn, step or tool call, also after a crash. */
  spanId: string;
  /** Of a turn: the span of the agent that asked for it. Of a step: its turn's. Of a tool call: that of who called it. */
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
  /** As of its result: true when the response is not whole. */
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
  /** What was asked for, as JSON, for people: secrets masked, cut after 200 characters. */
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
  /** Of an error result. Its texts are cut after 1,000 characters. */
  error?: TurnError;
}
/** The call's chain threw; the model gets an error result. */
export interface ToolFailed extends ToolCalled {
  duration: number;
  error: TurnError;
}

/** The call waits for a person. Told again when a turn that waited was resumed. */
export interface ApprovalAsked extends ToolCalled {
  reason: string;
}
export interface ApprovalDecided extends ToolCalled, Omit<ApprovalOutcome, 'note'> {}

/** How something outside of the agent is that an extension needs: a server, a device. */
export interface ExtensionStatus {
  /** `idle`: it is connected when it is needed. `reconnecting`: it was lost, and is tried again. */
  state: 'idle' | 'connecting' | 'connected' | 'reconnecting' | 'failed';
  /** Its command or its address, without secrets. */
  target?: string;
  /** Why it is not connected; of one that is, why it was lost the last time. Cut after 2,000 characters. */
  problem?: string;
  /** The last lines it printed, oldest first. At most 10 are kept, 500 characters of each. */
  lines?: readonly string[];
  /** How often it was lost since the agent started. */
  lost?: number;
  /** Names of the tools it offers now; absent while that is not known. */
  tools?: readonly string[];
  /** Its tools that are not offered, and why. At most 50 are kept. */
  withheld?: readonly { readonly name: string; readonly problem: string }[];
}

/** An extension emitted `extension.status` with an `ExtensionStatus`. The runtime adds whose it is, and masks secrets. */
export interface ExtensionStatusChanged extends ExtensionStatus {
  extension: string;
  agentName: string;
  instanceKey: string;
  /** When it was told. */
  timestamp: string;
  /** When it came into this state. */
  since: string;
  /** The turn that ran then. */
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
