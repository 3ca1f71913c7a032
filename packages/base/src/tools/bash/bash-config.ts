import type { JsonObject } from '@goondan/types';

/** Defined by `configSchema` in tools.yaml; absent fields have the defaults below. */
export interface BashConfig {
  /** `auto`: bubblewrap if it works. `required`: only with bubblewrap. `off`: never. */
  readonly sandbox: 'auto' | 'required' | 'off';
  readonly network: boolean;
  /** Variables for commands, in addition to the few that every command gets. */
  readonly env: Readonly<Record<string, string>>;
  /** Folders and files that a sandboxed command may read, or write, in addition to its own. */
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  /** The most characters of each stream for the model. */
  readonly outputLimit: number;
  /** The most bytes of each stream in a file. */
  readonly spillLimit: number;
}

const defaults: BashConfig = {
  sandbox: 'auto',
  network: false,
  env: {},
  readable: [],
  writable: [],
  timeoutMs: 60_000,
  // A little less than a tool's deadline, so that this tool ends the command and can show its output.
  maxTimeoutMs: 110_000,
  outputLimit: 16_000,
  spillLimit: 10_000_000,
};

export function readBashConfig(config: JsonObject): BashConfig {
  // Checked against the schema when the tool was loaded.
  return { ...defaults, ...(config as Partial<BashConfig>) };
}
