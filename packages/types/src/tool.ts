/** Tools: what the model sees of one, what it asks, what it gets, and what a handler is given. */
import type { AgentsApi } from './agents-api.ts';
import type { JsonObject, JsonSchema, JsonValue } from './json.ts';
import type { Message } from './message.ts';
import type { ExecutionContext } from './turn.ts';

/** Hints about a tool, for layers that decide (approval, tool search). The runtime believes its own declarations only. */
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

/** The outcome of a call. The model's mistakes and the tool's failures are values here, never exceptions. */
export interface ToolCallResult {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly output?: JsonValue;
  readonly status: 'ok' | 'error';
  readonly error?: ToolCallError;
}

/** What a handler is given beside its input. */
export interface ToolContext extends ExecutionContext {
  /** A stable key for this call: use it where the outside offers idempotency. */
  readonly toolCallId: string;
  /** The assistant message that asked; absent when an extension called the tool. */
  readonly message?: Message;
  /** The folder the agent works in. */
  readonly workdir: string;
  /** The settings of a declared tool: the agent's over the resource's, checked and filled in. `{}` when it has none. */
  readonly config: JsonObject;
  readonly logger: Console;
  /** Aborted when the turn is cancelled or the call runs past its deadline. Pass it on. */
  readonly signal: AbortSignal;
  readonly agents: AgentsApi;
  /**
   * This call as W3C Trace Context: send it along to a service you trust, as the header `traceparent`, and what that does
   * hangs under this call. The runtime always gives it.
   */
  readonly traceparent?: string;
}

/**
 * Runs one tool.
 *
 * **When it fires** — when a `toolCall` chain reaches its core, with arguments already checked against the schema.
 * **Rules** — return JSON (`undefined` becomes `null`); stop when `ctx.signal` aborts.
 * **Errors** — a throw becomes a result the model can read (`error.code` is kept, else `E_TOOL_FAILED`).
 *
 * @example const get: ToolHandler = async (ctx, input) => ({ tempC: await celsius(input.city, ctx.signal) })
 */
export type ToolHandler = (ctx: ToolContext, input: JsonObject) => JsonValue | void | Promise<JsonValue | void>;
