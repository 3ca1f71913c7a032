/** The contracts of v0.10: the API of an extension, the contexts of its functions, and their parts. */
import type { Cleanup, JsonObject, JsonValue, ToolContext } from '@goondan/types';
import type { MiddlewarePoint, MutatorPoint } from './points.ts';

export interface OldToolCall {
  id: string;
  name: string;
  args: JsonObject;
}

export interface OldToolResult {
  toolCallId: string;
  toolName: string;
  output: JsonValue;
  /** A result with `pending` is refused. */
  status: 'ok' | 'error' | 'pending';
  handle?: string;
  error?: { name: string; message: string; code?: string; suggestion?: string; helpUrl?: string };
}

/** An image or a file of a user's message. */
export interface OldAttachment {
  type: 'image' | 'file';
  url?: string;
  base64?: string;
  mimeType?: string;
}

export type LlmMessage =
  | { id: string; role: 'system'; content: string }
  | { id: string; role: 'user'; content: string; attachments?: OldAttachment[] }
  | { id: string; role: 'assistant'; content?: string; toolCalls?: OldToolCall[] }
  | { id: string; role: 'tool'; toolCallId: string; toolName: string; output: JsonValue };

export type OldMessageEvent =
  | { type: 'system_message'; seq: number; message: LlmMessage }
  | { type: 'llm_message'; seq: number; message: LlmMessage }
  | { type: 'replace'; seq: number; targetId: string; message: LlmMessage }
  | { type: 'remove'; seq: number; targetId: string }
  | { type: 'truncate'; seq: number };

type WithoutSeq<Event> = Event extends unknown ? Omit<Event, 'seq'> & { seq?: number } : never;

/** An event to emit. */
export type NewOldEvent = WithoutSeq<OldMessageEvent>;

export interface OldMessageState {
  baseMessages: LlmMessage[];
  /** The events of the turn. An event that a function appends is emitted when the function has returned. */
  events: OldMessageEvent[];
  nextMessages: LlmMessage[];
}

export interface OldTurn {
  id: string;
  /** The text of the input. A function at `turn.pre` may change it. */
  input: string;
  messageState: OldMessageState;
  toolResults: OldToolResult[];
  /** The type, the source and the metadata of the event that the turn handles. */
  origin?: JsonObject;
  /** The identity of the sender, as the connector established it. */
  auth?: JsonObject;
  /** The metadata that all layers of the turn share. */
  metadata?: JsonObject;
  /** Only the later functions of the turn see it. */
  summary?: string;
}

export interface LlmResult {
  message: { id?: string; role: 'assistant'; content?: string; toolCalls?: OldToolCall[] };
  toolCalls: OldToolCall[];
  meta?: {
    usage?: { inputTokens: number; outputTokens: number; totalTokens: number };
    model?: string;
    finishReason?: string;
  };
}

export interface OldStep {
  id: string;
  index: number;
  llmResult?: LlmResult;
  startedAt: Date;
  endedAt?: Date;
}

export interface OldToolItem {
  name: string;
  description?: string;
  parameters?: JsonObject;
  tool?: JsonValue;
  export?: JsonValue;
  source?: { type: 'static' | 'dynamic' | 'mcp'; extension?: string; mcpServer?: string };
}

export interface ContextBlock {
  type: string;
  data?: JsonValue;
  items?: JsonValue[];
  /** A block with a higher priority is shown earlier. Default 0. */
  priority?: number;
}

export type OldEventHandler = (...args: never[]) => unknown;

export interface OldEventBus {
  emit(type: string, ...payload: unknown[]): void;
  on(type: string, handler: OldEventHandler): () => void;
  once(type: string, handler: OldEventHandler): () => void;
  off(type: string, handler: OldEventHandler): void;
}

/** The fields that every context has. Reading `ctx.swarm`, `ctx.effectiveConfig` or other fields of a resource throws. */
export interface OldContext {
  readonly events: OldEventBus;
  readonly logger: Console;
  readonly agentName: string;
  readonly instanceKey: string;
  readonly instance: { readonly instanceKey: string };
  readonly agent: { readonly kind: 'Agent'; readonly metadata: { readonly name: string } };
  readonly workdir: string;
  readonly bundleFolder: string;
}

export interface OldTurnContext extends OldContext {
  turn: OldTurn;
  /** The messages at the start of the turn, at `turn.post`. */
  baseMessages?: LlmMessage[];
  /** The events of the turn, at `turn.post`. An event that a function appends is emitted. */
  messageEvents?: OldMessageEvent[];
  /** Emits an event at once. Its `seq` does not count. */
  emitMessageEvent(event: NewOldEvent): Promise<void>;
}

export interface OldStepContext extends OldTurnContext {
  step: OldStep;
  toolCatalog: OldToolItem[];
  blocks: ContextBlock[];
  /** The folder of the agent's bundle. */
  activeSwarmRef: string;
  /** The messages that the model gets, at `step.llmInput` and `step.llmCall`. */
  llmInput?: LlmMessage[];
}

export interface OldToolCallContext extends OldStepContext {
  toolCall: OldToolCall;
  toolResult?: OldToolResult;
}

export interface LlmErrorContext extends OldStepContext {
  error: Error;
  /** The number of retries so far. */
  retryCount: number;
  shouldRetry: boolean;
  retryDelayMs: number;
}

export type ContextForPoint<P extends MutatorPoint | MiddlewarePoint> = P extends `turn.${string}`
  ? OldTurnContext
  : P extends 'step.llmError'
    ? LlmErrorContext
    : P extends `step.${string}`
      ? OldStepContext
      : OldToolCallContext;

export type ResultForPoint<P extends MiddlewarePoint> = P extends 'step.llmCall' ? LlmResult : OldToolResult;

export type Mutator<Context> = (ctx: Context) => Promise<Context> | Context;
export type OldMiddleware<Context, Result> = (ctx: Context, next: (ctx: Context) => Promise<Result>) => Promise<Result>;

export interface OldOptions {
  /** Functions with a lower priority run first; those of `wrap` are further out. Default 0. */
  priority?: number;
  /** A name for the function. Functions with the same id all run. */
  id?: string;
}

export interface PipelineApi {
  mutate<P extends MutatorPoint>(point: P, fn: Mutator<ContextForPoint<P>>, options?: OldOptions): void;
  mutate(point: `workspace.${string}`, fn: Mutator<never>, options?: OldOptions): void;
  wrap<P extends MiddlewarePoint>(
    point: P,
    fn: OldMiddleware<ContextForPoint<P>, ResultForPoint<P>>,
    options?: OldOptions,
  ): void;
}

export type OldToolHandler = (ctx: ToolContext, input: JsonObject) => unknown;

/** The API that v0.10 gave to `register`. */
export interface OldExtensionApi<State = JsonObject> {
  readonly extension: {
    readonly kind: 'Extension';
    readonly metadata: { readonly name: string };
    readonly spec: { readonly config: JsonObject };
  };
  readonly pipelines: PipelineApi;
  readonly tools: {
    register(tool: OldToolItem & { handler: OldToolHandler }): void;
    register(tool: OldToolItem, handler: OldToolHandler): void;
  };
  readonly events: OldEventBus;
  readonly state: { get(): State; set(state: State): void };
  readonly logger: Console;
  /** Returns the state; an empty object when none was ever set. */
  getState(this: void): State;
  setState(this: void, state: State): void;
}

export type OldRegister<State = JsonObject> = (
  api: OldExtensionApi<State>,
  config: JsonObject,
) => void | Cleanup | Promise<void | Cleanup>;
