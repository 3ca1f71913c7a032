/** Lists the entries of a folder, sorted by name. */
import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { fileError, fromSystem } from './file-error.ts';
import { walk } from './walk.ts';

const MOST_ENTRIES = 500;

export function listFolder({ path = '.' }: { readonly path?: string }, { root }: { readonly root: string }) {
  using walked = walk(root, path);
  const { found } = walked;
  if (found === undefined) throw fileError('E_FILE_MISSING', path, 'does not exist');
  if (!found.stats.isDirectory()) throw fileError('E_FILE_KIND', path, 'is not a folder');
  try {
    const names = readdirSync(found.reach).toSorted();
    const entries = names.slice(0, MOST_ENTRIES).flatMap((name) => describe(found.reach, name) ?? []);
    const more = names.length - Math.min(names.length, MOST_ENTRIES);
    return { path: walked.path, entries, ...(more === 0 ? {} : { more }) };
  } catch (error) {
    throw fromSystem(path, error);
  }
}

/** Describes one entry of the folder. Returns undefined when the entry was deleted meanwhile. */
function describe(folder: string, name: string) {
  const stats = lstatSync(`${folder}/${name}`, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  const type = typeOf(stats);
  return { name, type, ...(type === 'file' ? { bytes: stats.size } : {}) };
}

function typeOf(stats: Stats): 'file' | 'folder' | 'link' | 'other' {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'folder';
  return stats.isSymbolicLink() ? 'link' : 'other';
}
