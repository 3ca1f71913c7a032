/** The exports of an extension module, and the API it gets. */
import type { JsonObject, JsonSchema, JsonValue } from './json.ts';
import type { PipelineRegistry } from './middleware.ts';
import type { RuntimeEventName, RuntimeEvents } from './runtime-events.ts';
import type { ToolCatalogItem, ToolHandler } from './tool.ts';

export interface ExtensionToolsApi {
  /**
   * Offers a tool to the model, from the next step on. Allowed at any time.
   *
   * **Rules** — the name is `{resource}__{export}`; registering it again replaces it. A tool with a too large schema is
   * not offered: the log warns with `E_SCHEMA_SIZE`, and the agent continues without it.
   * **Errors** — a bad name: `E_TOOL_NAME`; the name of a declared tool: `E_TOOL_TAKEN`.
   */
  register(item: ToolCatalogItem, handler: ToolHandler): void;
}

/** One JSON value of the extension for each agent instance. A turn commits it however it ends, also when it fails. */
export interface ExtensionStateApi {
  /** `null` when nothing was ever set. */
  get(): Promise<JsonValue>;
  /** **Errors** — anything that is not JSON: `E_STATE_NOT_JSON`, naming the place. */
  set(value: JsonValue): Promise<void>;
}

/**
 * A bus inside the agent's process. A handler that throws is logged and does not stop the others. An extension reports
 * the status of a service it needs with `extension.status`, which `gdn status`, traces and Studio show.
 */
export interface ExtensionEventsApi {
  on<Name extends RuntimeEventName>(event: Name, handler: (payload: RuntimeEvents[Name]) => void): () => void;
  on(event: string, handler: (...args: unknown[]) => void): () => void;
  emit(event: string, ...args: unknown[]): void;
}

/** The whole surface an extension has. All five parts work from the first line of `register`. */
export interface ExtensionApi {
  readonly pipeline: PipelineRegistry;
  readonly tools: ExtensionToolsApi;
  readonly state: ExtensionStateApi;
  readonly events: ExtensionEventsApi;
  /** The Console methods; lines have agent, instance, extension and trace ids, with secrets masked. */
  readonly logger: Console;
}

/** The identity of an extension in its agent. */
export interface ExtensionIdentity {
  /** The name of its resource, or the one the agent's list gives it with `as`. */
  readonly name: string;
}

/** Run on shutdown and on hot swap, because `beforeExit` does not fire on SIGTERM. */
export type Cleanup = () => void | Promise<void>;

/**
 * The entry of an extension.
 *
 * **When it fires** — once when the agent starts, in the order of `spec.extensions`; it is awaited before the next.
 * **Rules** — register layers here; tools may come later. May return a cleanup function. `identity` is for extensions
 * that an agent may list more than once.
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
  /** JSON Schema of the config, checked before `register`. */
  configSchema?: JsonSchema;
}

/** `kind: Extension` as it is declared. */
export interface ExtensionResource {
  apiVersion: string;
  kind: 'Extension';
  metadata: { name: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  spec: ExtensionSpec;
}

export interface ExtensionSpec<Config = JsonObject> {
  /** Module path, relative to the bundle's folder and inside it. */
  entry: string;
  config?: Config;
  configSchema?: JsonSchema;
}
