/** The interface of every model: the models of providers, the scripted model, and cassettes. */
import type { JsonSchema, ModelDelta, ModelMessage, ModelParams, ModelReply, ToolCatalogItem } from '@goondan/types';
import type { Clock } from '../../ports/clock.ts';
import type { ModelSpec } from '../../config/model-spec.ts';
import type { SentRequest } from '../../trace/model-request.ts';

export interface ModelRequest {
  /** The system prompt first, then the conversation. Every tool call is paired with its result. */
  readonly messages: readonly ModelMessage[];
  /**
   * The number of leading messages that stay in the conversation: they are not ephemeral, and no model layer put them
   * there. Absent for a call by a layer.
   */
  readonly stableCount?: number | undefined;
  readonly tools: readonly ToolCatalogItem[];
  readonly params: ModelParams;
  /** The JSON Schema of the answer, for a model whose `takesSchema` returned true. */
  readonly outputSchema?: JsonSchema;
  /** Reads the bytes of a file to which a message refers. **Errors** — `E_FILE_UNKNOWN`; those of the store. */
  readFile?(digest: string): Promise<Uint8Array>;
  /** Aborts when the turn is cancelled or the call exceeds its deadline. */
  readonly signal: AbortSignal;
  /** The id of the turn, for models that count calls within a turn. */
  readonly turnId: string;
  /** Called for each delta while the reply is written, in order. */
  onDelta(delta: ModelDelta): void;
  /** Called with the request as it is sent. If a model never calls it, its requests cannot be reconstructed later. */
  onSent?(sent: SentRequest): void;
  /** Called when the provider may have begun to answer: a call that fails after this may have used tokens. */
  onBegun?(): void;
}

/**
 * Calls a model. **Errors** — throws a provider's failure, with `retryable` and `retryAfterMs` if the provider states
 * them. The caller checks the reply, because a model may return anything.
 */
export interface Model {
  generate(request: ModelRequest): Promise<ModelReply>;
  /**
   * Returns true if the model has a mode of its own for answers that fit this schema, beside these tools. Without this
   * function, or if it returns false, the model gives its answer with the tool `output__finish`.
   */
  takesSchema?(schema: JsonSchema, tools: readonly ToolCatalogItem[]): boolean | Promise<boolean>;
}

export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** The dependencies for opening a model. */
export interface ModelDeps {
  readonly clock: Clock;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The folder to which file names in `options` are relative. */
  readonly folder: string;
  /** The `fetch` function to use; the global one when absent. */
  readonly fetch?: Fetch;
  /** Called once for each warning that people should see. */
  readonly warn?: (message: string) => void;
  /** Opens another model of the bundle by its reference (`Model/name`), for a model that calls another one. */
  openUpstream?(modelRef: string): Promise<Model>;
}

/** Finds a model of an agent by its reference. Each model is opened when it is first used. */
export interface ModelSource {
  (modelRef: string): Promise<Model>;
  readonly entries: Readonly<Record<string, Model | ModelSpec>>;
  readonly opened: ReadonlyMap<string, Promise<Model>>;
}
