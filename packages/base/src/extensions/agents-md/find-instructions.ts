/**
 * Finds the `AGENTS.md` files of a folder: its own, and those of the folders around it, up to the root of the repository.
 *
 * Invariants:
 * 1. Outside of a repository, only the folder itself is searched.
 * 2. A file that is not in the repository, because a link leads out of it, is not read.
 * 3. At most `maxBytes` are read in all. The nearest files are read first, because they have precedence.
 * 4. An unchanged file is not read again.
 */
import { closeSync, existsSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { cleanText } from '../../text/clean-text.ts';

export interface Instructions {
  /** The path below the root of the repository. */
  readonly path: string;
  readonly text: string;
}

export interface Search {
  /** The names of the files. In each folder, the first that exists is used. */
  readonly names: readonly string[];
  /** If true, the folders around the folder are searched, too. */
  readonly parents: boolean;
  readonly maxBytes: number;
}

interface Known {
  readonly stamp: string;
  readonly text: string;
}

const DEEPEST = 64;

export class InstructionFinder {
  /** The text of each file when it was last read, by path. */
  #known: ReadonlyMap<string, Known> = new Map();

  constructor(private readonly search: Search) {}

  /** Returns the files, the nearest last, and the problems found. */
  find(workdir: string): { readonly files: readonly Instructions[]; readonly problems: readonly string[] } {
    const folders = foldersFrom(workdir, this.search.parents);
    const root = folders.at(-1) ?? workdir;
    const files: Instructions[] = [];
    const problems: string[] = [];
    const seen = new Map<string, Known>();
    let left = this.search.maxBytes;
    for (const folder of folders) {
      const found = findFile(folder, this.search.names, root);
      if (found === undefined) continue;
      if ('problem' in found) {
        problems.push(found.problem);
        continue;
      }
      const { file, size, stamp } = found;
      if (size > left)
        problems.push(`${file} was cut, because all instructions may have ${this.search.maxBytes} bytes.`);
      const bytes = Math.min(size, left);
      left -= bytes;
      const known = this.#known.get(file);
      const mark = `${stamp} ${bytes}`;
      const text = known?.stamp === mark ? known.text : readStart(file, bytes);
      if (text === undefined) continue;
      seen.set(file, { stamp: mark, text });
      if (text !== '') files.unshift({ path: relative(root, file), text });
    }
    this.#known = seen;
    return { files, problems };
  }
}

/** Returns the folder and those around it up to the root of the repository, the nearest first. */
function foldersFrom(workdir: string, parents: boolean): string[] {
  if (!parents) return [workdir];
  const folders = [workdir];
  while (folders.length < DEEPEST) {
    const folder = folders.at(-1) ?? workdir;
    if (existsSync(join(folder, '.git'))) return folders;
    const parent = dirname(folder);
    if (parent === folder) break;
    folders.push(parent);
  }
  return [workdir];
}

type Found = { readonly file: string; readonly size: number; readonly stamp: string } | { readonly problem: string };

function findFile(folder: string, names: readonly string[], root: string): Found | undefined {
  for (const name of names) {
    const file = join(folder, name);
    try {
      const stat = statSync(file);
      if (!stat.isFile()) continue;
      const real = realpathSync(file);
      const [first] = relative(realpathSync(root), real).split(sep);
      if (first === '..') return { problem: `${file} leads out of ${root}.` };
      return { file, size: stat.size, stamp: `${real} ${stat.mtimeMs} ${stat.size}` };
    } catch {
      // There is no such file.
    }
  }
  return undefined;
}

/** Reads the beginning of a file. Returns undefined for a file that cannot be read, or was just removed. */
function readStart(file: string, bytes: number): string | undefined {
  try {
    const descriptor = openSync(file, 'r');
    try {
      const buffer = Buffer.alloc(bytes);
      const count = readSync(descriptor, buffer, 0, bytes, 0);
      // A character that was cut in the middle becomes U+FFFD.
      const text = buffer.toString('utf8', 0, count).replace(/\uFFFD$/, '');
      return cleanText(text, Infinity).trim();
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return undefined;
  }
}
