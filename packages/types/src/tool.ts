/** Tools: their description for the model, calls, results, and the context of a handler. */
import type { AgentsApi } from './agents-api.ts';
import type { JsonObject, JsonSchema, JsonValue } from './json.ts';
import type { Message } from './message.ts';
import type { ExecutionContext } from './turn.ts';

/**
 * Hints about a tool, for layers that decide (approval, tool search). The runtime trusts only declarations in a bundle.
 */
export interface ToolAnnotations {
  readOnly?: boolean;
  idempotent?: boolean;
  effects?: 'none' | 'local' | 'external';
  title?: string;
}

/** One tool as the model sees it. */
export interface ToolCatalogItem {
  /** `{resource}__{export}`, at most 64 of `A-Z a-z 0-9 _ -`. */
  name: string;
  description: string;
  /** JSON Schema of the arguments; absent means an empty object. */
  parameters?: JsonSchema;
  annotations?: ToolAnnotations;
}

/** A call the model asked for. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly args: JsonObject;
}

export interface ToolCallError {
  readonly name?: string;
  readonly message: string;
  readonly code?: string;
  readonly suggestion?: string;
  readonly helpUrl?: string;
}

/**
 * The outcome of a call. The model's mistakes and the tool's failures are values here, never exceptions. A failed call has
 * an error, and no other call has one.
 */
export type ToolCallResult = {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly output?: JsonValue;
} & (
  { readonly status: 'ok'; readonly error?: undefined } | { readonly status: 'error'; readonly error: ToolCallError }
);

/** The context of a handler. */
export interface ToolContext extends ExecutionContext {
  /** A stable key for this call: use it where the outside offers idempotency. */
  readonly toolCallId: string;
  /** The assistant message that asked; absent when an extension called the tool. */
  readonly message?: Message;
  /** The folder the agent works in. */
  readonly workdir: string;
  /**
   * The settings of a declared tool: those of the agent merged over those of the resource, and checked. `{}` when it
   * has none.
   */
  readonly config: JsonObject;
  readonly logger: Console;
  /** Aborted when the turn is cancelled or the call runs past its deadline. Pass it on. */
  readonly signal: AbortSignal;
  readonly agents: AgentsApi;
  /**
   * This call as W3C Trace Context. Send it to a service you trust as the header `traceparent`, to make its spans
   * children of this call. The runtime always sets it.
   */
  readonly traceparent?: string;
}

/**
 * Runs one tool.
 *
 * **When it fires** — when a `toolCall` chain reaches its core, with arguments already checked against the schema.
 * **Rules** — return JSON (`undefined` becomes `null`); stop when `ctx.signal` aborts.
 * **Errors** — a throw becomes a result for the model (`error.code` is kept, else `E_TOOL_FAILED`).
 *
 * @example const get: ToolHandler = async (ctx, input) => ({ tempC: await celsius(input.city, ctx.signal) })
 */
export type ToolHandler = (ctx: ToolContext, input: JsonObject) => JsonValue | void | Promise<JsonValue | void>;
