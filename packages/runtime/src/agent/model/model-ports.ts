/** What opening a model needs from outside. */
import type { Clock } from '../../ports/clock.ts';
import type { Model } from './model-port.ts';

export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

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
