/** A Model resource with its secrets looked up. */
import type { JsonObject, ModelParams } from '@goondan/types';

export interface ModelSpec {
  /** The provider: `anthropic`, `openai`, `google`, `openai-compatible`, `cassette`, … */
  readonly provider: string;
  /** The provider's own name of the model. */
  readonly model: string;
  /** The API key itself; when absent, the provider's environment variable is read. */
  readonly apiKey?: string;
  /** The environment variable from which `apiKey` was read because the Model has none, for messages to people. */
  readonly keyVariable?: string;
  /**
   * The base URL; when absent, the provider's `*_BASE_URL` variable is used, or else the provider's public address.
   */
  readonly endpoint?: string;
  /** Options that only this provider understands. */
  readonly options?: JsonObject;
  /** Sampling settings for every call; the settings of a single request override them. */
  readonly params?: ModelParams;
  readonly limits?: ModelLimits;
}

/** Limits of all calls of a model, by all processes and nodes of the swarm. */
export interface ModelLimits {
  readonly requestsPerMinute?: number;
  /** The limit of input and output tokens together. */
  readonly tokensPerMinute?: number;
  /** The maximum number of calls at the same time. */
  readonly concurrent?: number;
  /** The name of the model in the swarm, by which its calls are counted: agents may know it by different names. */
  readonly countedAs: string;
}
