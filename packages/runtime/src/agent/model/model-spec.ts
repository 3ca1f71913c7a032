/** What a Model resource says, its secrets already looked up, and what opening it needs from outside. */
import type { JsonObject, ModelParams } from '@goondan/types';
import type { Clock } from '../../ports/clock.ts';
import type { Model } from './model-port.ts';

export interface ModelSpec {
  /** `anthropic`, `openai`, `google`, `openai-compatible`, `cassette`, … */
  readonly provider: string;
  /** The provider's own name of the model. */
  readonly model: string;
  /** The key itself; the provider's variable is read when it is absent. */
  readonly apiKey?: string;
  /** The base URL; the provider's `*_BASE_URL` variable, then its public address, when it is absent. */
  readonly endpoint?: string;
  /** What only this provider's opener understands. */
  readonly options?: JsonObject;
  /** Sampling settings for every call; those of a request win. */
  readonly params?: ModelParams;
}

export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

export interface ModelPorts {
  readonly clock: Clock;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The folder that file names in `options` are relative to. */
  readonly folder: string;
  /** The global `fetch` when absent. */
  readonly fetch?: Fetch;
  /** Opens another model of the bundle by its reference (`Model/name`), for models that stand before one. */
  openUpstream?(modelRef: string): Promise<Model>;
}
