/** The one shape every model has here, whoever makes it: a provider, the scripted model, a cassette. */
import type { ModelDelta, ModelMessage, ModelParams, ModelReply, ToolCatalogItem } from '@goondan/types';

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
}

/**
 * **Errors** — what the provider got wrong is thrown, with `retryable` and `retryAfterMs` where the provider says so.
 * The reply is checked by the caller: a model may answer anything.
 */
export interface Model {
  generate(request: ModelRequest): Promise<ModelReply>;
}
