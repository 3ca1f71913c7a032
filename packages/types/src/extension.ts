/** The exports of an extension module, and the API that the extension gets. */
import type { JsonObject, JsonSchema, JsonValue } from './json.ts';
import type { PipelineRegistry } from './middleware.ts';
import type { RuntimeEventName, RuntimeEvents } from './runtime-events.ts';
import type { ToolCatalogItem, ToolHandler } from './tool.ts';

export interface RegisteredToolOptions {
  /**
   * Identifies the server behind the tool, such as its name and its version of the tool. If a person allowed the tool for
   * always, and this value changes, the person is asked again. The config of the extension counts in any case.
   */
  readonly server?: JsonValue;
}

export interface ExtensionToolsApi {
  /**
   * Offers a tool to the model, from the next step on. Allowed at any time.
   *
   * **Rules** — the name is `{resource}__{export}`; of all registrations of a name, the last one counts. A tool
   * with a too large schema is not offered: the log warns with `E_SCHEMA_SIZE`, and the agent continues without it.
   * **Errors** — a malformed name: `E_TOOL_NAME`; the name of a tool that the bundle declares: `E_TOOL_TAKEN`.
   */
  register(item: ToolCatalogItem, handler: ToolHandler, options?: RegisteredToolOptions): void;
}

/**
 * Stores one JSON value per extension and agent instance. The value is committed at the end of each turn, even if the
 * turn failed.
 */
export interface ExtensionStateApi {
  /** Returns `null` when no value was ever set. */
  get(): Promise<JsonValue>;
  /** **Errors** — a value that is not JSON: `E_STATE_NOT_JSON`, which names the part of the value. */
  set(value: JsonValue): Promise<void>;
}

/**
 * A bus for events inside the agent's process. If a handler throws, the error is logged and the other handlers still
 * run. An extension reports the status of a service it needs with `extension.status`, which `gdn status`, traces and
 * Studio show. An extension names secrets that it gets while it runs with `extension.secrets`, a list of texts: they are
 * masked from then on, and the event is not published.
 */
export interface ExtensionEventsApi {
  on<Name extends RuntimeEventName>(event: Name, handler: (payload: RuntimeEvents[Name]) => void): () => void;
  on(event: string, handler: (...args: unknown[]) => void): () => void;
  emit(event: string, ...args: unknown[]): void;
}

/** An error with a code, as extensions throw it and get it. A `GoondanError` is such an error. */
export interface ExtensionError extends Error {
  /** A code of the error catalogue, or a code of the extension's own. */
  code: string;
  /** Advice for the reader. */
  suggestion?: string;
  /** The address of a page about the error. */
  helpUrl?: string;
}

/** Everything that an extension can use. All parts work from the first line of `register`. */
export interface ExtensionApi {
  readonly pipeline: PipelineRegistry;
  readonly tools: ExtensionToolsApi;
  readonly state: ExtensionStateApi;
  readonly events: ExtensionEventsApi;
  /**
   * A logger with the methods of `console`. Each line carries the agent, instance, extension and trace ids, and secrets
   * are masked.
   */
  readonly logger: Console;
}

/** Identifies an extension in its agent. */
export interface ExtensionIdentity {
  /** The name of the extension's resource, or the name that the agent gives it with `as`. */
  readonly name: string;
  /** The place in the agent's list of extensions, counted from 0. It changes when the plan of the running agent changes. */
  readonly position: number;
}

/**
 * Cleans up on shutdown, and before a changed version replaces this one. The runtime then also calls the `beforeExit`
 * listeners of the agent's process, but a cleanup function names its extension in the log.
 */
export type Cleanup = () => void | Promise<void>;

/**
 * The entry of an extension.
 *
 * **When it fires** — once when the agent starts, in the order of `spec.extensions`; each is awaited before the next
 * one starts.
 * **Rules** — register layers in this function; tools may be registered later. The function may return a cleanup
 * function. Only an extension that an agent may list more than once needs `identity`.
 * **Errors** — a throw fails the agent's start with `E_EXT_INIT`.
 *
 * @example
 * export const register: ExtensionRegister<{ level: string }> = (api, config) => {
 *   api.logger.info(`level ${config.level}`);
 *   return () => api.logger.info('bye');
 * };
 */
export type ExtensionRegister<Config = JsonObject> = (
  api: ExtensionApi,
  config: Config,
  identity: ExtensionIdentity,
) => void | Cleanup | Promise<void | Cleanup>;

export interface ExtensionModule {
  register: ExtensionRegister;
  /** The JSON Schema for the extension's config, which is checked before `register` is called. */
  configSchema?: JsonSchema;
}

/** A `kind: Extension` resource, as declared in a bundle. */
export interface ExtensionResource {
  apiVersion: string;
  kind: 'Extension';
  metadata: { name: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  spec: ExtensionSpec;
}

export interface ExtensionSpec<Config = JsonObject> {
  /** The path of the module, relative to the bundle's folder. It must not lead out of that folder. */
  entry: string;
  config?: Config;
  configSchema?: JsonSchema;
  /** The older version of the extension API that the module is written for. The package @goondan/v010 runs it. */
  compat?: 'v010';
}
