/** A Model resource with its secrets looked up. */
import type { JsonObject, ModelParams } from '@goondan/types';

export interface ModelSpec {
  /** The provider: `anthropic`, `openai`, `google`, `openai-compatible`, `cassette`, … */
  readonly provider: string;
  /** The provider's own name of the model. */
  readonly model: string;
  /** The API key itself; when absent, the provider's environment variable is read. */
  readonly apiKey?: string;
  /**
   * The base URL; when absent, the provider's `*_BASE_URL` variable is used, or else the provider's public address.
   */
  readonly endpoint?: string;
  /** Options that only this provider understands. */
  readonly options?: JsonObject;
  /** Sampling settings for every call; the settings of a single request override them. */
  readonly params?: ModelParams;
}
