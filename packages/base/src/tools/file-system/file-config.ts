import { resolve } from 'node:path';
import type { JsonObject, ToolContext } from '@goondan/types';

/** As `configSchema` in tools.yaml has it; what is left out has the value below. */
export interface FileConfig {
  /** The folder that nothing leads out of; relative to the working folder. */
  readonly root: string;
  readonly readOnly: boolean;
  /** Bytes of text that one `read` gives. */
  readonly readLimit: number;
  /** Bytes of a file that `write` and `edit` write, and that `edit` and `search` read. */
  readonly fileLimit: number;
  readonly searchTimeoutMs: number;
  /** Folders that `search` does not go into. */
  readonly skip: readonly string[];
}

const defaults: FileConfig = {
  root: '.',
  readOnly: false,
  readLimit: 50_000,
  fileLimit: 5_000_000,
  searchTimeoutMs: 10_000,
  skip: ['.git', 'node_modules'],
};

/** With `root` as an absolute path. */
export function readFileConfig({ workdir, config }: Pick<ToolContext, 'workdir' | 'config'>): FileConfig {
  // Checked against the schema when the tool was loaded.
  const given = { ...defaults, ...(config as JsonObject & Partial<FileConfig>) };
  return { ...given, root: resolve(workdir, given.root) };
}
