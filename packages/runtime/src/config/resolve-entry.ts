/** Finds a file that a resource names. Rejects every way out of the bundle: `..`, absolute paths, links. */
import { realpathSync } from 'node:fs';
import { isAbsolute, join, relative, sep } from 'node:path';
import { GoondanError } from '@goondan/types';

const meansNoFile: readonly unknown[] = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'];

/**
 * Returns the real path of `entry` inside `root`, or `undefined` when the file does not exist. `what`: the name of the
 * file in the error.
 *
 * **Errors** — `E_PATH_OUTSIDE`.
 */
export async function resolveEntry(root: string, entry: string, what: string): Promise<string | undefined> {
  if (isAbsolute(entry) || /^[A-Za-z]:/.test(entry)) throw outside(what, entry, 'is an absolute path');
  if (entry.split(/[\\/]/).includes('..')) throw outside(what, entry, 'contains ".."');
  if (entry.includes('\0')) throw outside(what, entry.replaceAll('\0', '\\0'), 'contains a NUL byte');
  const folder = realPath(root);
  if (folder === undefined) return undefined;
  const file = realPath(join(folder, entry));
  if (file === undefined) return undefined;
  if (relative(folder, file).split(sep)[0] === '..')
    throw outside(what, entry, 'is a link that leads out of the bundle');
  return file;
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (meansNoFile.includes(code)) return undefined;
    throw error;
  }
}

function outside(what: string, entry: string, why: string): GoondanError {
  return new GoondanError('E_PATH_OUTSIDE', `${what} "${entry}" ${why}.`);
}
