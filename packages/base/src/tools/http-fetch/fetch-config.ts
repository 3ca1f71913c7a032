import type { JsonObject } from '@goondan/types';

/** Defined by `configSchema` in tools.yaml; absent fields have the defaults below. */
export interface FetchConfig {
  /** Hosts and addresses that may be fetched although they are not public. */
  readonly allow: readonly string[];
  /** If given, only these hosts may be fetched. */
  readonly only?: readonly string[];
  /** Headers by host. They are added to every request to that host. */
  readonly headers: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly timeoutMs: number;
  /** The maximum number of bytes of a body that are read. */
  readonly bodyLimit: number;
  /** The maximum number of characters that the model gets. */
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
  // The cast is safe: the config was checked against the schema when the tool was loaded.
  return { ...defaults, ...(config as unknown as Partial<FetchConfig>) };
}
