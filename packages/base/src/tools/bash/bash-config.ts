import type { JsonObject } from '@goondan/types';

/** Defined by `configSchema` in tools.yaml; absent fields have the defaults below. */
export interface BashConfig {
  /** `auto`: uses bubblewrap if it works. `required`: fails without bubblewrap. `off`: never uses bubblewrap. */
  readonly sandbox: 'auto' | 'required' | 'off';
  readonly network: boolean;
  /** Environment variables for commands, in addition to the few that every command gets. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * Paths that a sandboxed command may read, in addition to its own folders. `writable` lists the paths that it may
   * also write.
   */
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  /** The maximum number of characters of each stream that the model gets. */
  readonly outputLimit: number;
  /** The maximum number of bytes of each stream that are saved in a file. */
  readonly spillLimit: number;
}

const defaults: BashConfig = {
  sandbox: 'auto',
  network: false,
  env: {},
  readable: [],
  writable: [],
  timeoutMs: 60_000,
  // This is a little less than the deadline of a tool call, so that this tool can end the command itself and return its
  // output.
  maxTimeoutMs: 110_000,
  outputLimit: 16_000,
  spillLimit: 10_000_000,
};

export function readBashConfig(config: JsonObject): BashConfig {
  // The cast is safe: the config was checked against the schema when the tool was loaded.
  return { ...defaults, ...(config as Partial<BashConfig>) };
}
