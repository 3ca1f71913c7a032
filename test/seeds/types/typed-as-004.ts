// An extension with the types of seed 004 in its own file, instead of imports from `@goondan/types`. Our types must
// accept its functions.
import type * as Ours from '@goondan/types';

type AgentEvent = Ours.AgentEvent;
type CoreMessage = Ours.ModelMessage;
type JsonObject = Ours.JsonObject;
type JsonValue = Ours.JsonValue;
type ToolCall = Ours.ToolCall;
type ToolContext = Ours.ToolContext;
type Turn = Ours.Turn;

// The types of seed 004.
interface ExtensionApi {
  /** Middleware registration */
  pipeline: PipelineRegistry;

  /** Dynamic tool registration */
  tools: ExtensionToolsApi;

  /** Per-extension persistent state (JSON) */
  state: ExtensionStateApi;

  /** In-process event bus (pub/sub) */
  events: ExtensionEventsApi;

  /** Structured logger */
  logger: Console;
}

interface PipelineRegistry {
  register(type: 'turn', fn: TurnMiddleware, options?: MiddlewareOptions): void;
  register(type: 'step', fn: StepMiddleware, options?: MiddlewareOptions): void;
  register(type: 'toolCall', fn: ToolCallMiddleware, options?: MiddlewareOptions): void;
}

interface MiddlewareOptions {
  /** Execution priority. Lower value = outer layer (runs first). Default: 0 */
  priority?: number;
}

type TurnMiddleware = (ctx: TurnMiddlewareContext) => Promise<TurnResult>;
type StepMiddleware = (ctx: StepMiddlewareContext) => Promise<StepResult>;
type ToolCallMiddleware = (ctx: ToolCallMiddlewareContext) => Promise<ToolCallResult>;

interface TurnMiddlewareContext extends ExecutionContext {
  /** The input event that triggered this Turn */
  readonly inputEvent: AgentEvent;

  /** Conversation state (base + events via event sourcing) */
  readonly conversationState: ConversationState;

  /** Programmatic inter-agent calls from middleware */
  readonly agents: MiddlewareAgentsApi;

  /** Emit a message event (append / replace / remove / truncate) */
  emitMessageEvent(event: MessageEvent): void;

  /** Shared metadata across middleware layers */
  metadata: Record<string, JsonValue>;

  /** Invoke the next middleware or core Turn logic */
  next(): Promise<TurnResult>;
}

interface TurnResult {
  readonly turnId: string;
  readonly responseMessage?: Message;
  readonly finishReason: 'text_response' | 'max_steps' | 'error';
  readonly error?: { message: string; code?: string };
}

interface StepMiddlewareContext extends ExecutionContext {
  /** Current Turn info */
  readonly turn: Turn;

  /** Step index within the current Turn (0-based) */
  readonly stepIndex: number;

  /** Conversation state */
  readonly conversationState: ConversationState;

  /** Programmatic inter-agent calls from middleware */
  readonly agents: MiddlewareAgentsApi;

  /** Emit a message event */
  emitMessageEvent(event: MessageEvent): void;

  /** Tool catalog for this Step (mutable -- filter, add, or modify entries) */
  toolCatalog: ToolCatalogItem[];

  /** Shared metadata across middleware layers */
  metadata: Record<string, JsonValue>;

  /** Invoke the next middleware or core Step logic (LLM call + tool execution) */
  next(): Promise<StepResult>;
}

interface StepResult {
  status: 'completed' | 'failed';
  hasToolCalls: boolean;
  toolCalls: ToolCall[];
  toolResults: ToolCallResult[];
  metadata: Record<string, JsonValue>;
}

interface MiddlewareAgentsApi {
  request(params: {
    target: string;
    input?: string;
    instanceKey?: string;
    timeoutMs?: number; // default: 15000
    metadata?: Record<string, unknown>;
  }): Promise<{ target: string; response: string }>;

  send(params: {
    target: string;
    input?: string;
    instanceKey?: string;
    metadata?: Record<string, unknown>;
  }): Promise<{ accepted: boolean }>;
}

interface ToolCallMiddlewareContext extends ExecutionContext {
  /** Step index within the current Turn */
  readonly stepIndex: number;

  /** Name of the tool being called ({resourceName}__{exportName}) */
  readonly toolName: string;

  /** Unique ID for this tool call */
  readonly toolCallId: string;

  /** Tool call arguments (mutable -- can be modified before execution) */
  args: JsonObject;

  /** Shared metadata across middleware layers */
  metadata: Record<string, JsonValue>;

  /** Invoke the next middleware or core tool execution */
  next(): Promise<ToolCallResult>;
}

interface ToolCallResult {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly output?: JsonValue;
  readonly status: 'ok' | 'error';
  readonly error?: {
    name?: string;
    message: string;
    code?: string;
    suggestion?: string;
    helpUrl?: string;
  };
}

interface ExtensionToolsApi {
  /**
   * Register a dynamic tool.
   * @param item - Tool catalog entry (name, description, parameter schema)
   * @param handler - Tool handler function
   */
  register(item: ToolCatalogItem, handler: ToolHandler): void;
}

interface ToolCatalogItem {
  name: string;
  description: string;
  parameters: JsonObject; // JSON Schema
}

type ToolHandler = (ctx: ToolContext, input: JsonObject) => Promise<JsonValue> | JsonValue;

interface ExtensionStateApi {
  /** Read current state. Returns null if no state has been saved. */
  get(): Promise<JsonValue>;

  /** Save state. Must be JSON-serializable. */
  set(value: JsonValue): Promise<void>;
}

interface ExtensionEventsApi {
  /**
   * Subscribe to an event.
   * @param event - Event name (e.g., 'turn.completed')
   * @param handler - Event handler
   * @returns Unsubscribe function
   */
  on(event: string, handler: (...args: unknown[]) => void): () => void;

  /**
   * Emit an event.
   * @param event - Event name
   * @param args - Event arguments
   */
  emit(event: string, ...args: unknown[]): void;
}

interface ConversationState {
  readonly baseMessages: Message[];
  readonly events: MessageEvent[];
  readonly nextMessages: Message[];
  toLlmMessages(): CoreMessage[];
}

type MessageEvent =
  | { type: 'append'; message: Message }
  | { type: 'replace'; targetId: string; message: Message }
  | { type: 'remove'; targetId: string }
  | { type: 'truncate' };

interface Message {
  readonly id: string;
  readonly data: CoreMessage;
  metadata: Record<string, JsonValue>;
  readonly createdAt: Date;
  readonly source: MessageSource;
}

type MessageSource =
  | { type: 'user' }
  | { type: 'assistant'; stepId: string }
  | { type: 'tool'; toolCallId: string; toolName: string }
  | { type: 'system' }
  | { type: 'extension'; extensionName: string };

interface ExecutionContext {
  readonly agentName: string;
  readonly instanceKey: string;
  readonly turnId: string;
  readonly traceId: string;
}

// The code of the author.
const turn: TurnMiddleware = async (ctx) => {
  const messages: Message[] = ctx.conversationState.nextMessages;
  const events: MessageEvent[] = ctx.conversationState.events;
  const last = messages.at(-1);
  if (last !== undefined && events.length > 0) {
    ctx.emitMessageEvent({ type: 'replace', targetId: last.id, message: { ...last, metadata: { pinned: true } } });
  }
  const result = await ctx.next();
  return { ...result, finishReason: result.finishReason };
};

const step: StepMiddleware = async (ctx) => {
  const catalog: ToolCatalogItem[] = ctx.toolCatalog;
  ctx.toolCatalog = catalog.filter(({ name }) => name !== 'danger__do');
  const results: readonly ToolCallResult[] = ctx.turn.toolResults;
  ctx.metadata['results'] = results.length;
  return ctx.next();
};

const toolCall: ToolCallMiddleware = async (ctx) => {
  const result: ToolCallResult = await ctx.next();
  const { toolCallId, toolName, status } = result;
  return { toolCallId, toolName, status, ...(result.error === undefined ? {} : { error: result.error }) };
};

const handler: ToolHandler = (_ctx, input) => input;

export function register(api: ExtensionApi): void {
  api.pipeline.register('turn', turn, { priority: 1 });
  api.pipeline.register('step', step);
  api.pipeline.register('toolCall', toolCall);
  api.tools.register({ name: 'mine__echo', description: '', parameters: { type: 'object' } }, handler);
}

/** An extension that takes the seed's api is an extension. */
export const module: Ours.ExtensionModule = { register };

/** Our own api takes the seed's functions, too. */
export function registerWithOurs(api: Ours.ExtensionApi): void {
  api.pipeline.register('turn', turn);
  api.pipeline.register('step', step);
  api.pipeline.register('toolCall', toolCall);
  api.tools.register({ name: 'mine__echo', description: '', parameters: { type: 'object' } }, handler);
}

/** The result of a tool call has the same type in the seed and here. */
export const fromSeed = (result: ToolCallResult): Ours.ToolCallResult => result;
export const toSeed = (result: Ours.ToolCallResult): ToolCallResult => result;

/** The error of seed 002, and our own errors in its place. */
export const refusal: Ours.ExtensionError = Object.assign(new Error('no'), {
  code: 'E_MINE',
  suggestion: 'Ask again.',
});
export const ours = (error: Ours.GoondanError): Ours.ExtensionError => error;
