/** A Model resource with its secrets looked up. */
import type { JsonObject, ModelParams } from '@goondan/types';

export interface ModelSpec {
  /** `anthropic`, `openai`, `google`, `openai-compatible`, `cassette`, … */
  readonly provider: string;
  /** The provider's own name of the model. */
  readonly model: string;
  /** The key itself; the provider's variable is read when it is absent. */
  readonly apiKey?: string;
  /** The base URL; the provider's `*_BASE_URL` variable, then its public address, when it is absent. */
  readonly endpoint?: string;
  /** Options that only this provider understands. */
  readonly options?: JsonObject;
  /** Sampling settings for every call; those of a request win. */
  readonly params?: ModelParams;
}
