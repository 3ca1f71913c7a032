/**
 * Reads a bundle. None of its code runs: modules are parsed, not imported, and `.env` and `bunfig.toml` do not affect
 * this process. The YAML parser and the schemas are imported when the first bundle is read, because most programs never
 * read a bundle.
 */
import { realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { GoondanError } from '@goondan/types';
import type { Bundle } from './bundle.ts';
import type { Environment } from '../variable-name.ts';

/**
 * Reads `goondan.yaml` and the other YAML files of a folder, and the packages they refer to. `environment`: the
 * variables for `valueFrom: { env }`, usually `process.env`.
 *
 * **Rules** — all problems are in `errors` and `warnings` of the result, each with its place. If there is an error,
 * `valid` is false.
 * **Errors** — `E_BUNDLE_MISSING` when the folder does not exist, or has no `goondan.yaml`.
 *
 * @example
 * const bundle = await loadBundle('my-swarm', { environment: process.env });
 * for (const { file, line, column, message } of bundle.errors) console.error(`${file}:${line}:${column} ${message}`);
 */
export async function loadBundle(
  folder: string,
  { environment }: { readonly environment: Environment },
): Promise<Bundle> {
  const root = findBundle(folder);
  const [{ readFolder }, { readBundle }] = await Promise.all([
    import('./files/read-folder.ts'),
    import('./read-bundle.ts'),
  ]);
  return readBundle({ folder: root, ...(await readFolder(root, '')) }, environment);
}

/** The swarms that a bundle's own files declare, each with its workspace if the swarm names one. */
export interface BundleSwarms {
  /** A real path. */
  readonly folder: string;
  readonly swarms: readonly { readonly name: string; readonly workspace?: string }[];
}

/**
 * Lists the swarms of a bundle and reads nothing else: no other resource, no package, no module. Use it to reach a
 * running swarm or its state, even if the rest of the bundle has become invalid.
 *
 * **Errors** — `E_BUNDLE_MISSING`.
 */
export async function loadSwarms(folder: string): Promise<BundleSwarms> {
  const root = findBundle(folder);
  const [{ readFolder }, { listSwarms }] = await Promise.all([
    import('./files/read-folder.ts'),
    import('./list-swarms.ts'),
  ]);
  const { documents } = await readFolder(root, '');
  return { folder: root, swarms: listSwarms(documents) };
}

function findBundle(folder: string): string {
  const found = look(folder);
  if (found === undefined) throw missing(`There is no folder "${folder}".`);
  if (found === 'file') {
    throw missing(
      `"${folder}" is a file, not the folder of a bundle.`,
      `Name the folder it is in: "${dirname(folder)}".`,
    );
  }
  const file = look(join(folder, 'goondan.yaml'));
  if (file === undefined) throw missing(`There is no goondan.yaml in ${nameOf(folder)}.`);
  if (found === 'closed' || file === 'closed') {
    throw missing(`The folder "${folder}" cannot be read.`, 'Ask for permission to read it, or name another folder.');
  }
  return realpathSync(folder);
}

/** Returns the type of a path; `closed` when access is denied. */
function look(path: string): 'folder' | 'file' | 'closed' | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return undefined;
    return found.isDirectory() ? 'folder' : 'file';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'EACCES' || code === 'EPERM' ? 'closed' : undefined;
  }
}

function nameOf(folder: string): string {
  return folder === '.' ? 'the current folder' : `"${folder}"`;
}

function missing(message: string, suggestion?: string): GoondanError {
  return new GoondanError('E_BUNDLE_MISSING', message, suggestion === undefined ? {} : { suggestion });
}
