import { resolve } from 'node:path';
import type { JsonObject, ToolContext } from '@goondan/types';

/** Defined by `configSchema` in tools.yaml; absent fields have the defaults below. */
export interface FileConfig {
  /** The folder that no path may leave, relative to the working folder. */
  readonly root: string;
  readonly readOnly: boolean;
  /** The maximum number of bytes of text that one `read` returns. */
  readonly readLimit: number;
  /** The maximum size of a file that `write` and `edit` write, and that `edit` and `search` read. */
  readonly fileLimit: number;
  readonly searchTimeoutMs: number;
  /** Folders that `search` skips. */
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

/** Returns the config, with `root` as an absolute path. */
export function readFileConfig({ workdir, config }: Pick<ToolContext, 'workdir' | 'config'>): FileConfig {
  // The cast is safe: the config was checked against the schema when the tool was loaded.
  const given = { ...defaults, ...(config as JsonObject & Partial<FileConfig>) };
  return { ...given, root: resolve(workdir, given.root) };
}
