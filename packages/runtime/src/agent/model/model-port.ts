/** The one interface of every model: a provider's, the scripted model, a cassette. */
import type { ModelDelta, ModelMessage, ModelParams, ModelReply, ToolCatalogItem } from '@goondan/types';
import type { Clock } from '../../ports/clock.ts';
import type { SentRequest } from '../../trace/model-request.ts';

export interface ModelRequest {
  /** The system prompt first, then the conversation, with every tool call paired with its result. */
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolCatalogItem[];
  readonly params: ModelParams;
  /** Aborted when the turn is cancelled or the call is out of time. */
  readonly signal: AbortSignal;
  /** The id of the turn, for models that count calls within a turn. */
  readonly turnId: string;
  /** Called for each delta while the reply is written, in order. */
  onDelta(delta: ModelDelta): void;
  /** Called with the request as it is sent. The requests of a model that never calls it cannot be rebuilt. */
  onSent?(sent: SentRequest): void;
}

/**
 * **Errors** — a failure of the provider is thrown, with `retryable` and `retryAfterMs` where the provider says so. The
 * caller checks the reply: a model may return anything.
 */
export interface Model {
  generate(request: ModelRequest): Promise<ModelReply>;
}

/** Finds a model by its reference, and opens it when it is first used. */
export interface ModelSource {
  readonly refs: readonly string[];
  open(modelRef: string): Promise<Model>;
}

export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** The ports that opening a model needs. */
export interface ModelDeps {
  readonly clock: Clock;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The folder that file names in `options` are relative to. */
  readonly folder: string;
  /** The global `fetch` when absent. */
  readonly fetch?: Fetch;
  /** Called once with a warning for people. */
  readonly warn?: (message: string) => void;
  /** Opens another model of the bundle by its reference (`Model/name`), for models that call another one. */
  openUpstream?(modelRef: string): Promise<Model>;
}
