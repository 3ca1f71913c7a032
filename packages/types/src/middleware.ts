/**
 * The onion's contracts: three standard kinds of middleware and the one extra kind, `model`.
 *
 * All layers of a chain share one context. Only `next` is different for each layer. A value that a layer assigns to a
 * mutable field (`toolCatalog`, `args`, …) is visible to every inner layer and the core. Assigning a readonly field
 * throws a `TypeError`.
 */
import type { AgentEvent } from './agent-event.ts';
import type { MiddlewareAgentsApi } from './agents-api.ts';
import type { ApprovalApi } from './approval.ts';
import type { Budget, BudgetsApi } from './budget.ts';
import type { ExtensionIdentity } from './extension.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type { ConversationState, MessageEvent } from './message.ts';
import type { ModelMessage } from './model-message.ts';
import type { GenerateRequest, ModelParams, ModelReply } from './model.ts';
import type { RuntimeView } from './runtime-view.ts';
import type { StepResult } from './step.ts';
import type { ToolAnnotations, ToolCallResult, ToolCatalogItem } from './tool.ts';
import type { ExecutionContext, Turn, TurnResult } from './turn.ts';

export type StandardKind = 'turn' | 'step' | 'toolCall';
export type MiddlewareKind = StandardKind | 'model';

/** The folders that a layer can use. */
interface LayerPlaces {
  /** The folder the agent works in. */
  readonly workdir: string;
  /** The folder of the agent's bundle, the base of relative paths in a config. */
  readonly bundleFolder: string;
}

/**
 * Lets the layer call a tool. Such calls pass the `toolCall` chain and are effects. `caller`: the identity of another
 * extension, if the layer calls in its name; it is in `callers`. Default: the extension of the layer.
 */
interface LayerTools {
  readonly tools: { call(name: string, args?: JsonObject, caller?: ExtensionIdentity): Promise<ToolCallResult> };
}

/** The actions that turn and step layers can take. */
interface LayerPowers extends LayerTools {
  readonly conversationState: ConversationState;
  /** A frozen view of the agent, its model, its tools, the other agents, the connections and the event. */
  readonly runtime: RuntimeView;
  readonly agents: MiddlewareAgentsApi;
  /** Lets the layer call a model. Such calls pass the `model` chain, are effects, and never stream to the user. */
  readonly model: { generate(request: GenerateRequest): Promise<ModelReply> };
  /** Aborts when the turn is cancelled or exceeds its deadline. */
  readonly signal: AbortSignal;
  /** True when this turn was interrupted by a crash and now continues from its log. */
  readonly resumed: boolean;
  /** A JSON object that all layers, steps and tool calls of the turn share. It is dropped at the end of the turn. */
  metadata: Record<string, JsonValue>;
  /**
   * Changes the conversation. `author`: the identity of another extension, if the layer emits the event in its name; it
   * is the author in `gdn blame`. Default: the extension of the layer.
   */
  emitMessageEvent(event: MessageEvent, author?: ExtensionIdentity): void;
}

/**
 * The context of a layer around a whole turn.
 *
 * **When it fires** — once for each {@link AgentEvent}, after its input was appended to the conversation.
 * **Rules** — call `next()` exactly once and await it; events may be emitted before and after it.
 * **Errors** — a throw ends the turn with `finishReason: 'error'`; the turn's message events are kept.
 *
 * @example
 * api.pipeline.register('turn', async (ctx) => {
 *   const result = await ctx.next();
 *   api.logger.info(`finished: ${result.finishReason}`);
 *   return result;
 * });
 */
export interface TurnMiddlewareContext extends ExecutionContext, LayerPlaces, LayerPowers {
  readonly inputEvent: AgentEvent;
  next(): Promise<TurnResult>;
}

/**
 * The context of a layer around one step: one model call and its tool calls.
 *
 * **When it fires** — for every step of a turn; a retried step is a new step with its own index.
 * **Rules** — the model sees the `toolCatalog` that you assign before `next()`. To retry, throw an error with
 * `retryable: true`, and the runtime runs another step; do not call `next()` again. The retry drops the message events
 * of the failed step, except those that a layer emitted after its `next()` had failed.
 * **Errors** — a throw that is not retryable ends the turn.
 *
 * @example
 * api.pipeline.register('step', (ctx) => {
 *   ctx.toolCatalog = ctx.toolCatalog.filter((tool) => !tool.name.startsWith('danger'));
 *   return ctx.next();
 * });
 */
export interface StepMiddlewareContext extends ExecutionContext, LayerPlaces, LayerPowers {
  readonly turn: Turn;
  /** The position of the step in its turn, counted from 0. */
  readonly stepIndex: number;
  toolCatalog: ToolCatalogItem[];
  next(): Promise<StepResult>;
}

/** A layer that called a tool. */
export interface ToolCaller {
  /** The name of the layer's extension. */
  readonly extension: string;
  /** The place of the extension: swarm-wide, of the agent, of the agent with `innermost: true`, or a declarative hook. */
  readonly tier: 'swarm' | 'agent' | 'innermost' | 'hook';
}

/**
 * The context of a layer around one tool call.
 *
 * **When it fires** — for every tool call: requested by the model or by an extension, or repeated by a resumed turn.
 * **Rules** — `args` that you assign before `next()` are checked against the tool's schema and given to the handler. To
 * refuse, return an error result without calling `next()`, and register with `mayShortCircuit: true`. A layer that
 * calls tools itself also runs for those calls: `callers` shows which extensions made a call.
 * **Errors** — a throw becomes this call's error result; the turn continues. Calls of layers that are nested more than
 * 8 deep get the error result `E_TOOL_DEPTH`, and calls of the tools for other agents
 * (`agents__request` and the like) get `E_TOOL_NOT_OFFERED`.
 *
 * @example
 * api.pipeline.register('toolCall', (ctx) => {
 *   if (ctx.toolName === 'bash__exec') ctx.args = { ...ctx.args, timeoutMs: 1_000 };
 *   return ctx.next();
 * });
 */
export interface ToolCallMiddlewareContext extends ExecutionContext, LayerPlaces, LayerTools {
  readonly stepIndex: number;
  /** `{resource}__{export}`. */
  readonly toolName: string;
  readonly toolCallId: string;
  /** The layers whose `tools.call` led to this call, outermost first; empty for a call of the model. */
  readonly callers: readonly ToolCaller[];
  /**
   * The effect that the tool declares. It is `external` when the tool declares none, and for every tool that an
   * extension registers, because the runtime does not trust the annotations of such a tool.
   */
  readonly effects: NonNullable<ToolAnnotations['effects']>;
  readonly signal: AbortSignal;
  readonly approval: ApprovalApi;
  args: JsonObject;
  metadata: Record<string, JsonValue>;
  next(): Promise<ToolCallResult>;
}

/**
 * The context of a layer around the model call alone, inside `step`. Such layers are for caching, fail-over and
 * redaction.
 *
 * **When it fires** — for every model call: the model call of each step, and each `ctx.model.generate` of a layer.
 * **Rules** — `messages`, `tools`, `params` and `modelRef` are this call's own copies: reassign them freely.
 * **Errors** — a throw fails the step (or the `generate` call); with `retryable: true` the runtime tries again.
 *
 * @example
 * api.pipeline.register('model', async (ctx) => cache.get(key(ctx)) ?? (await ctx.next()), { mayShortCircuit: true });
 */
export interface ModelMiddlewareContext extends ExecutionContext, LayerPlaces {
  readonly stepIndex: number;
  readonly signal: AbortSignal;
  /** The extension that called `ctx.model.generate`; absent for the step's own model call. */
  readonly extension?: string;
  messages: ModelMessage[];
  tools: ToolCatalogItem[];
  params: ModelParams;
  /**
   * The model to call, as `Model/name`. To fail over, throw a retryable error with `isFallback: true`, and assign another
   * model in the retried step.
   */
  modelRef: string;
  /** The reason for another model, for people who read the trace. */
  modelReason?: string | undefined;
  /** Counts the call against the budgets that the layer declares in its options. */
  readonly budgets: BudgetsApi;
  metadata: Record<string, JsonValue>;
  next(): Promise<ModelReply>;
}

export type TurnMiddleware = (ctx: TurnMiddlewareContext) => Promise<TurnResult>;
export type StepMiddleware = (ctx: StepMiddlewareContext) => Promise<StepResult>;
export type ToolCallMiddleware = (ctx: ToolCallMiddlewareContext) => Promise<ToolCallResult>;
export type ModelMiddleware = (ctx: ModelMiddlewareContext) => Promise<ModelReply>;

/** A layer whose author expects that every tool has `parameters`. A tool without arguments may have none. */
type PlainStepMiddleware = (
  ctx: Omit<StepMiddlewareContext, 'toolCatalog'> & {
    toolCatalog: (ToolCatalogItem & Required<Pick<ToolCatalogItem, 'parameters'>>)[];
  },
) => Promise<StepResult>;

export interface MiddlewareOptions {
  /**
   * The position of the layer in its chain: a layer with a lower priority is further out. Layers with equal priority
   * keep their registration order. Default 0.
   */
  priority?: number;
  /** The layer's name in traces and errors. Default: the function's name, or the kind for an unnamed function. */
  name?: string;
  /**
   * If true, this layer may return without calling `next()`. If false, doing so logs a warning that names the layer.
   * Default false.
   */
  mayShortCircuit?: boolean;
  /**
   * The time limit for the layer itself, without the time spent in `next()`. A layer that exceeds it fails with
   * `E_MIDDLEWARE_TIMEOUT`. Default: none.
   */
  timeoutMs?: number;
  /**
   * `fail`: an error of this layer fails the chain. `skip`: the chain continues without this layer, and the skip is
   * recorded.
   */
  onError?: 'fail' | 'skip';
  /**
   * If true, no streamed text leaves the process before this layer's chain has finished. Use it for redaction and
   * guards.
   */
  buffers?: boolean;
  /**
   * The budgets that a `model` layer reserves with `ctx.budgets`; at most 32. If a budget counts tokens or money, every model
   * of the agent needs a maximum for its answers, and a price; otherwise the agent does not start: `E_BUDGET_UNBOUNDED`.
   */
  budgets?: readonly Budget[];
}

/**
 * Registers layers.
 *
 * **Rules** — layers can be registered only while the extension's `register` runs.
 * **Errors** — an unknown kind: `E_PIPELINE_KIND`; after `register` settled: `E_PIPELINE_CLOSED`; bad options:
 * `E_PIPELINE_OPTIONS`.
 */
export interface PipelineRegistry {
  register(type: 'turn', fn: TurnMiddleware, options?: MiddlewareOptions): void;
  register(type: 'step', fn: StepMiddleware, options?: MiddlewareOptions): void;
  register(type: 'toolCall', fn: ToolCallMiddleware, options?: MiddlewareOptions): void;
  register(type: 'step', fn: PlainStepMiddleware, options?: MiddlewareOptions): void;
  register(type: 'model', fn: ModelMiddleware, options?: MiddlewareOptions): void;
}
