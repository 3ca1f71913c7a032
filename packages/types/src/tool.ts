/** Tools: their descriptions for the model, their calls and results, and the context of a tool handler. */
import type { AgentsApi } from './agents-api.ts';
import type { BundleApi } from './bundle-api.ts';
import type { JsonObject, JsonSchema, JsonValue } from './json.ts';
import type { Message } from './message.ts';
import type { PersonApi } from './question.ts';
import type { ExecutionContext } from './turn.ts';

/**
 * Hints about a tool, for layers such as approval and tool search. The runtime trusts only hints declared in a bundle.
 */
export interface ToolAnnotations {
  readOnly?: boolean;
  idempotent?: boolean;
  effects?: 'none' | 'local' | 'external';
  title?: string;
}

/** One tool as the model sees it. */
export interface ToolCatalogItem {
  /**
   * The name of the tool: `{resource}__{export}`, at most 256 characters. An item that a layer adds to a catalog may have
   * any name of that length. A provider gets a name that it accepts.
   */
  name: string;
  description: string;
  /** The JSON Schema of the arguments. When absent, the arguments must be an empty object. */
  parameters?: JsonSchema;
  annotations?: ToolAnnotations;
}

/** A tool call that the model requested. */
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
  /** The address of a page for people. The model does not get it. */
  readonly helpUrl?: string;
}

/**
 * The outcome of a tool call. Mistakes of the model and failures of the tool are returned as values, never thrown. If a
 * layer returns `status: 'error'` without an `error`, or an `error` without a `message`, the runtime fills it in.
 */
export interface ToolCallResult {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly output?: JsonValue;
  readonly status: 'ok' | 'error';
  readonly error?: ToolCallError;
}

/** The context that a tool handler gets. */
export interface ToolContext extends ExecutionContext {
  /** A key that stays the same when this call is repeated. Pass it to services that support idempotency keys. */
  readonly toolCallId: string;
  /** The assistant message that requested the call; absent when an extension called the tool. */
  readonly message?: Message;
  /** The folder the agent works in. */
  readonly workdir: string;
  /**
   * The tool's config: the agent's config merged over the resource's config, and validated. `{}` when the tool has no
   * config.
   */
  readonly config: JsonObject;
  readonly logger: Console;
  /** Aborts when the turn is cancelled or the call exceeds its deadline. Pass it to everything that you await. */
  readonly signal: AbortSignal;
  readonly agents: AgentsApi;
  /** Asks a person for a filled form, or to open a page. */
  readonly person: PersonApi;
  /** Changes the bundle of the swarm, within `Swarm.spec.policy.changes`. */
  readonly bundle: BundleApi;
  /**
   * The trace context of this call, in W3C format. Send it as the header `traceparent` to a service you trust, so that
   * the service's spans become children of this call. The runtime always sets this field.
   */
  readonly traceparent?: string;
}

/**
 * Runs one tool.
 *
 * **When it fires** — when a `toolCall` chain reaches its core, with arguments already checked against the schema.
 * **Rules** — return JSON (`undefined` becomes `null`); stop when `ctx.signal` aborts.
 * **Errors** — a throw becomes an error result for the model, with the `code` of the thrown error, or `E_TOOL_FAILED`
 * when it has none.
 *
 * @example const get: ToolHandler = async (ctx, input) => ({ tempC: await celsius(input.city, ctx.signal) })
 */
export type ToolHandler = (ctx: ToolContext, input: JsonObject) => JsonValue | void | Promise<JsonValue | void>;
