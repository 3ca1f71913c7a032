import type { JsonObject } from '@goondan/types';

/** Defined by `configSchema` in tools.yaml; absent fields have the defaults below. */
export interface FetchConfig {
  /** Hosts and addresses that may be reached although they are not public. */
  readonly allow: readonly string[];
  /** The only hosts that may be reached; all when absent. */
  readonly only?: readonly string[];
  /** Host → headers of every request to it. */
  readonly headers: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly timeoutMs: number;
  /** The most bytes of a body that are read. */
  readonly bodyLimit: number;
  /** The most characters for the model. */
  readonly outputLimit: number;
}

const defaults: FetchConfig = {
  allow: [],
  headers: {},
  timeoutMs: 30_000,
  bodyLimit: 2_000_000,
  outputLimit: 30_000,
};

export function readFetchConfig(config: JsonObject): FetchConfig {
  // Checked against the schema when the tool was loaded.
  return { ...defaults, ...(config as unknown as Partial<FetchConfig>) };
}
