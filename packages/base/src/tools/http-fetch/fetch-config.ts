import type { JsonObject } from '@goondan/types';

/** As `configSchema` in tools.yaml has it; what is left out has the value below. */
export interface FetchConfig {
  /** Hosts and addresses that may be reached though they are not public. */
  readonly allow: readonly string[];
  /** The only hosts that may be reached; all when absent. */
  readonly only?: readonly string[];
  /** By host: headers that go with every request to it. */
  readonly headers: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly timeoutMs: number;
  /** Bytes of a body that are read. */
  readonly bodyLimit: number;
  /** Characters that the model gets. */
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
