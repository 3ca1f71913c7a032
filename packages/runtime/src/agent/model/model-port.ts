/** The one shape every model has here, whoever makes it: a provider, the scripted model, a cassette. */
import type { ModelDelta, ModelMessage, ModelParams, ModelReply, ToolCatalogItem } from '@goondan/types';
import type { Clock } from '../../ports/clock.ts';
import type { SentRequest } from '../../trace/model-request.ts';

export interface ModelRequest {
  /** The system prompt first, then the conversation, every tool call paired with its result. */
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolCatalogItem[];
  readonly params: ModelParams;
  /** Aborted when the turn is cancelled or the call is out of time. */
  readonly signal: AbortSignal;
  /** For models that count within a turn. */
  readonly turnId: string;
  /** Called for each piece while the reply is written, in order. */
  onDelta(delta: ModelDelta): void;
  /** Called with what is sent, when it is. A model that does not say so has requests that cannot be rebuilt. */
  onSent?(sent: SentRequest): void;
}

/**
 * **Errors** — what the provider got wrong is thrown, with `retryable` and `retryAfterMs` where the provider says so.
 * The reply is checked by the caller: a model may answer anything.
 */
export interface Model {
  generate(request: ModelRequest): Promise<ModelReply>;
}

/** Finds a model by its reference; opens it when it is first used. */
export interface ModelSource {
  readonly refs: readonly string[];
  open(modelRef: string): Promise<Model>;
}

export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** Everything that opening a model needs from outside. */
export interface ModelDeps {
  readonly clock: Clock;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The folder that file names in `options` are relative to. */
  readonly folder: string;
  /** The global `fetch` when absent. */
  readonly fetch?: Fetch;
  /** Told what a person should know about a model, once. */
  readonly warn?: (message: string) => void;
  /** Opens another model of the bundle by its reference (`Model/name`), for models that stand before one. */
  openUpstream?(modelRef: string): Promise<Model>;
}
