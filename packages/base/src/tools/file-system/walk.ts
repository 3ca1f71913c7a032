/**
 * Walks from a folder to a path inside it, name by name, and never leaves it. Invariants:
 *
 * 1. Every step starts from a folder that is held open, and does not follow links. Swapping a folder for a link during
 *    the walk cannot change the target of a path.
 * 2. A link is read, and its target is walked like any other path. A link that leads out of the root is refused.
 * 3. `..` goes back to the previous folder of the walk, never to the parent on disk, and never above the root.
 * 4. Nothing is opened for reading or writing before it is known to be a regular file: inspecting a device or a pipe
 *    neither blocks nor has an effect.
 *
 * Folders are held open through /proc. On systems without /proc, paths are used instead. There, only a program that
 * swaps a folder for a link at the right moment can get out of the root.
 */
import { closeSync, constants, existsSync, fstatSync, lstatSync, mkdirSync, openSync, readlinkSync } from 'node:fs';
import { realpathSync, type Stats } from 'node:fs';
import { isAbsolute } from 'node:path';
import { GoondanError } from '@goondan/types';
import { codeOf, fileError, fromSystem, outside } from './file-error.ts';

export interface Walked extends Disposable {
  /** The path of the folder that contains the file; for the root itself, the path of the root. */
  readonly folder: string;
  /** The file's name in that folder; empty for the root itself. */
  readonly name: string;
  /** The file or folder at the path; absent when there is none. */
  readonly found?: Found;
  /** The path relative to the root, with links resolved: `a/b.txt`; `.` for the root itself. */
  readonly path: string;
}

export interface Found {
  readonly stats: Stats;
  /** The path to use for opening the file. */
  readonly reach: string;
  /** True when `reach` always leads to the inspected file, even if another file has taken its name. */
  readonly isHeld: boolean;
}

const LONGEST_PATH = 4_096;
const MOST_LINKS = 40;
/** The maximum number of nested folders; each needs a file descriptor. */
const MOST_FOLDERS = 200;
/** Opens a file only to inspect it. Node's `constants` does not define this flag. */
const O_PATH = 0o10000000;

/**
 * Walks to the path. `root` must be a folder. `makeFolders` creates missing folders on the way. `withoutProc` is for
 * tests: it behaves as if /proc were missing. Throws `E_FILE_OUTSIDE`, `E_FILE_KIND`, and `E_FILE_MISSING` for a
 * missing folder on the way.
 */
export function walk(
  root: string,
  path: string,
  { makeFolders = false, withoutProc = false }: { readonly makeFolders?: boolean; readonly withoutProc?: boolean } = {},
): Walked {
  const real = realFolder(root);
  const roots = [real, root];
  const names = namesOf(roots, path);
  const trail = new Trail(real, withoutProc || !existsSync('/proc/self/fd'));
  try {
    return follow(trail, roots, path, names, makeFolders);
  } catch (error) {
    trail.close();
    throw fromSystem(path, error);
  }
}

/** Returns the real path of the folder that `root` of the config names. */
function realFolder(root: string): string {
  try {
    return realpathSync(root);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw fromSystem(root, error);
    throw new GoondanError('E_FILE_MISSING', `The folder in config \`root\` does not exist: ${root}.`, {
      suggestion: 'Ask the user to correct `root`, which is relative to the working folder of the agent.',
      cause: error,
    });
  }
}

function follow(trail: Trail, roots: string[], path: string, todo: string[], makeFolders: boolean): Walked {
  let links = 0;
  for (;;) {
    const name = todo.shift();
    if (name === undefined) return trail.ended('', undefined);
    if (name === '' || name === '.') continue;
    if (name === '..') {
      if (!trail.back()) throw outside(path);
      continue;
    }
    const step = lookInside(trail.here, name);
    if (step === undefined) {
      if (todo.length === 0) return trail.ended(name, undefined);
      if (!makeFolders) throw fileError('E_FILE_MISSING', path, 'does not exist');
      makeFolder(`${trail.here.reach}/${name}`);
      todo.unshift(name);
    } else if (step.stats.isSymbolicLink()) {
      step.close();
      if ((links += 1) > MOST_LINKS) throw fileError('E_FILE_KIND', path, 'is a link that leads to itself');
      const target = readlinkSync(`${trail.here.reach}/${name}`);
      if (isAbsolute(target)) trail.toRoot();
      todo.unshift(...(isAbsolute(target) ? namesOf(roots, target, path) : target.split('/')));
    } else if (step.stats.isDirectory()) {
      trail.into(name, step);
      if (trail.depth > MOST_FOLDERS) throw fileError('E_FILE_FAILED', path, 'is too deep');
    } else if (todo.length === 0) {
      return trail.ended(name, step);
    } else {
      step.close();
      throw fileError('E_FILE_KIND', path, 'is not a folder, or a part of the path is not a folder');
    }
  }
}

/**
 * Makes a folder. An existing folder is not an error, because another process may have created it meanwhile. The next
 * lookup finds it.
 */
function makeFolder(reach: string): void {
  try {
    mkdirSync(reach);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

/**
 * Returns the names from the root to the path. An absolute path must begin with the root, either as given or as a real
 * path.
 */
function namesOf(roots: readonly string[], path: string, asked = path): string[] {
  if (path.includes('\0'))
    throw fileError('E_FILE_OUTSIDE', asked, 'contains a NUL character, which a path cannot have');
  if (Buffer.byteLength(path) > LONGEST_PATH) throw fileError('E_FILE_FAILED', asked, 'is too long a path');
  if (!isAbsolute(path)) return path.split('/');
  for (const start of roots) {
    if (path === start) return [];
    const folder = start.endsWith('/') ? start : `${start}/`;
    if (path.startsWith(folder)) return path.slice(folder.length).split('/');
  }
  throw outside(asked);
}

export interface Step extends Found {
  close(): void;
}

/** Looks up a name in a folder without following links; `undefined` when the folder has no such entry. */
export function lookInside(folder: Found, name: string): Step | undefined {
  try {
    return (folder.isHeld ? lookHeld : lookAtPath)(`${folder.reach}/${name}`);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** The folders from the root to the current folder. */
class Trail {
  readonly #folders: { readonly name: string; readonly step: Step }[] = [];
  readonly #root: Step;

  constructor(root: string, withoutProc: boolean) {
    this.#root = (withoutProc ? lookAtPath : lookHeld)(root);
    if (!this.#root.stats.isDirectory()) throw fileError('E_FILE_KIND', root, 'is not a folder');
  }

  get depth(): number {
    return this.#folders.length;
  }

  /** The current folder. */
  get here(): Step {
    return this.#folders.at(-1)?.step ?? this.#root;
  }

  into(name: string, step: Step): void {
    this.#folders.push({ name, step });
  }

  back(): boolean {
    const left = this.#folders.pop();
    left?.step.close();
    return left !== undefined;
  }

  toRoot(): void {
    while (this.back());
  }

  /** Ends the walk at this name in the current folder, or at the folder itself when the name is empty. */
  ended(name: string, step: Step | undefined): Walked {
    const names = this.#folders.map((folder) => folder.name);
    const at = name === '' ? this.here : step;
    const folder = name === '' ? (this.#folders.at(-2)?.step ?? this.#root) : this.here;
    return {
      folder: folder.reach,
      name: name === '' ? (names.at(-1) ?? '') : name,
      ...(at === undefined ? {} : { found: at }),
      path: [...names, ...(name === '' ? [] : [name])].join('/') || '.',
      [Symbol.dispose]: () => {
        step?.close();
        this.close();
      },
    };
  }

  close(): void {
    this.toRoot();
    this.#root.close();
  }
}

function lookHeld(path: string): Step {
  const descriptor = openSync(path, O_PATH | constants.O_NOFOLLOW);
  return {
    reach: `/proc/self/fd/${descriptor}`,
    isHeld: true,
    stats: fstatSync(descriptor),
    close: () => closeSync(descriptor),
  };
}

function lookAtPath(reach: string): Step {
  return { reach, isHeld: false, stats: lstatSync(reach), close: () => undefined };
}
