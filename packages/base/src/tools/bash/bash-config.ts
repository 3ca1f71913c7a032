import type { JsonObject } from '@goondan/types';

/** As `configSchema` in tools.yaml has it; what is left out has the value below. */
export interface BashConfig {
  /** `auto`: bubblewrap when it works. `required`: or nothing runs. `off`: never. */
  readonly sandbox: 'auto' | 'required' | 'off';
  readonly network: boolean;
  /** Variables the commands get, beside the few that every command gets. */
  readonly env: Readonly<Record<string, string>>;
  /** Folders and files that a sandboxed command may read, or write, beside its own. */
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  /** Characters of each stream that the model gets. */
  readonly outputLimit: number;
  /** Bytes of each stream that are kept in a file. */
  readonly spillLimit: number;
}

const defaults: BashConfig = {
  sandbox: 'auto',
  network: false,
  env: {},
  readable: [],
  writable: [],
  timeoutMs: 60_000,
  // A little less than what a tool may take, so that it is this tool that ends the command and says what it had printed.
  maxTimeoutMs: 110_000,
  outputLimit: 16_000,
  spillLimit: 10_000_000,
};

export function readBashConfig(config: JsonObject): BashConfig {
  // Checked against the schema when the tool was loaded.
  return { ...defaults, ...(config as Partial<BashConfig>) };
}
