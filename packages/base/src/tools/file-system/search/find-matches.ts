/**
 * Walks a folder and yields matches in the order of names. Symbolic links are not followed: the target of a link is
 * outside of the folder, or it is found at its own path. This code runs in a separate process, because a regular
 * expression cannot be interrupted.
 */
import { closeSync, readdirSync, readFileSync } from 'node:fs';
import { fileError } from '../file-error.ts';
import { openRegular } from '../open-regular.ts';
import { type Found, lookInside, walk } from '../walk.ts';

export interface SearchAsk {
  readonly root: string;
  /** The folder to search, inside the root. */
  readonly path: string;
  /** A regular expression to match against lines; when absent, files are searched by name. */
  readonly pattern?: string;
  readonly ignoreCase: boolean;
  /** A glob for paths, or for file names when it contains no `/`. */
  readonly glob?: string;
  readonly skip: readonly string[];
  readonly fileLimit: number;
}

export type Match = { path: string; line?: number; text?: string };
/** A match, or a file that was skipped. */
export type Finding = { match: Match } | { skipped: 'large' | 'binary' | 'unreadable' | 'deep' };

/** The maximum number of characters of a matching line that are shown. */
const LONGEST_LINE = 300;
const DEEPEST = 100;

export function* findMatches(ask: SearchAsk): Generator<Finding> {
  using walked = walk(ask.root, ask.path);
  if (walked.found?.stats.isDirectory() !== true) throw fileError('E_FILE_KIND', ask.path, 'is not a folder');
  const fits = fitsGlob(ask.glob);
  const pattern = ask.pattern === undefined ? undefined : new RegExp(ask.pattern, ask.ignoreCase ? 'iu' : 'u');
  const start = walked.path === '.' ? '' : `${walked.path}/`;
  for (const { found, path } of walkFiles(walked.found, '', ask.skip, 0)) {
    if (found === undefined) yield { skipped: 'deep' };
    else if (!fits(path)) continue;
    else if (pattern === undefined) yield { match: { path: start + path } };
    else yield* findInFile(found, start + path, pattern, ask.fileLimit);
  }
}

function fitsGlob(glob: string | undefined): (path: string) => boolean {
  if (glob === undefined) return () => true;
  const compiled = new Bun.Glob(glob);
  return glob.includes('/')
    ? (path) => compiled.match(path)
    : (path) => compiled.match(path.slice(path.lastIndexOf('/') + 1));
}

/** Yields the files of a folder and its subfolders. `found` is absent for a folder that is nested too deeply. */
function* walkFiles(
  folder: Found,
  path: string,
  skip: readonly string[],
  depth: number,
): Generator<{ readonly found?: Found; readonly path: string }> {
  for (const name of readNames(folder)) {
    const step = lookInside(folder, name);
    try {
      if (step?.stats.isFile()) yield { found: step, path: path + name };
      else if (!step?.stats.isDirectory() || skip.includes(name)) continue;
      else if (depth === DEEPEST) yield { path: path + name };
      else yield* walkFiles(step, `${path}${name}/`, skip, depth + 1);
    } finally {
      step?.close();
    }
  }
}

function readNames(folder: Found): string[] {
  try {
    return readdirSync(folder.reach).toSorted();
  } catch {
    // A folder that cannot be read yields no matches.
    return [];
  }
}

function* findInFile(found: Found, path: string, pattern: RegExp, fileLimit: number): Generator<Finding> {
  if (found.stats.size > fileLimit) return yield { skipped: 'large' };
  const bytes = readBytes(found, path);
  if (bytes === undefined) return yield { skipped: 'unreadable' };
  if (bytes.subarray(0, 8_192).includes(0)) return yield { skipped: 'binary' };
  for (const [index, line] of bytes.toString().split('\n').entries()) {
    const at = line.search(pattern);
    if (at !== -1) yield { match: { path, line: index + 1, text: around(line.replace(/\r$/, ''), at) } };
  }
}

function readBytes(found: Found, path: string): Buffer | undefined {
  try {
    const descriptor = openRegular(found, path);
    try {
      return readFileSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return undefined;
  }
}

function around(line: string, at: number): string {
  if (line.length <= LONGEST_LINE) return line;
  const from = Math.max(0, Math.min(at - 50, line.length - LONGEST_LINE));
  return `${from > 0 ? '…' : ''}${line.slice(from, from + LONGEST_LINE)}${from + LONGEST_LINE < line.length ? '…' : ''}`;
}
