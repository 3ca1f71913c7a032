import { resolve } from 'node:path';
import type { JsonObject, ToolContext } from '@goondan/types';

/** Defined by `configSchema` in tools.yaml; absent fields have the defaults below. */
export interface QueryConfig {
  /** The folder that no path of a file may leave, relative to the working folder. */
  readonly root: string;
  /** The maximum number of bytes of the JSON that is queried. */
  readonly inputLimit: number;
  /** The maximum number of characters of the result, written as JSON. */
  readonly outputLimit: number;
}

const defaults: QueryConfig = { root: '.', inputLimit: 5_000_000, outputLimit: 30_000 };

/** Returns the config, with `root` as an absolute path. */
export function readQueryConfig({ workdir, config }: Pick<ToolContext, 'workdir' | 'config'>): QueryConfig {
  // The cast is safe: the config was checked against the schema when the tool was loaded.
  const given = { ...defaults, ...(config as JsonObject & Partial<QueryConfig>) };
  return { ...given, root: resolve(workdir, given.root) };
}
