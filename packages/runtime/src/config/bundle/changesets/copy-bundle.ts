/**
 * Copies a bundle to a trial folder, in which the changed bundle is read and tried.
 *
 * Invariants:
 * 1. Imports resolve in the copy as in the bundle: the copy has the bundle's own path below the trial folder, and links
 *    lead to everything beside the bundle, beside the folders above it, and to `node_modules`.
 * 2. Nothing is written through a link.
 */
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, parse, relative, resolve, sep } from 'node:path';
import { GoondanError } from '@goondan/types';
import { sha256 } from '../../../json/sha256.ts';
import { unlessThrows } from '../../../ports/unless-throws.ts';
import { lockFiles } from '../files/hash-lock-files.ts';
import { MOST_HASHED_BYTES } from '../files/scan-module.ts';
import type { FileEdit } from '../../../workspace/changesets/changeset-record.ts';

export const MOST_FILES = 20_000;
export const MOST_BYTES = 256 * 1024 * 1024;
const AT_ONCE = 32;

export interface BundleCopy {
  /** The real path of the copy. */
  readonly folder: string;
  /** The real path of the trial folder. The path of a file in the copy is this text and the file's path in the bundle. */
  readonly root: string;
  /** SHA-256 of the bundle's files by path, relative to the bundle and with `/`. Links and `node_modules` do not count. */
  readonly files: ReadonlyMap<string, string>;
}

export interface CopyRequest {
  /** A real path. */
  readonly bundleFolder: string;
  /** An empty folder. */
  readonly trialFolder: string;
  /** Folders inside the bundle that do not belong to it, such as the state root. */
  readonly leaveOut: readonly string[];
}

/** Copies the bundle. **Errors** — `E_CHANGESET_LIMIT` when the bundle has too many files or is too large. */
export async function copyBundle({ bundleFolder, trialFolder, leaveOut }: CopyRequest): Promise<BundleCopy> {
  const root = realpathSync(trialFolder);
  const folder = join(root, relative(parse(bundleFolder).root, bundleFolder));
  mirrorAbove(bundleFolder, root);
  const found = listFiles(bundleFolder, [root, ...leaveOut]);
  for (const path of found.folders) mkdirSync(join(folder, path), { recursive: true, mode: 0o700 });
  for (const path of found.links) copyLink(path, bundleFolder, folder);
  for (const path of found.packages) symlinkSync(join(bundleFolder, path), join(folder, path));
  const files = new Map<string, string>();
  for (const [index, path] of found.files.entries()) {
    const digest = copyFile(join(bundleFolder, path), join(folder, path));
    if (digest !== undefined) files.set(toSlashes(path), digest);
    // The process has other work to do meanwhile, such as answering pings.
    if (index % AT_ONCE === AT_ONCE - 1) await new Promise((resume) => setImmediate(resume));
  }
  return { folder, root, files };
}

/** Puts the edits into the copy. `findObstacle` must have found nothing for each of their paths. */
export function writeEdits(folder: string, edits: readonly FileEdit[]): void {
  const deleted = edits.filter(({ content }) => content === null);
  for (const { path } of deleted) rmSync(join(folder, path), { force: true });
  for (const { path, content } of edits) {
    if (content === null) continue;
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, content, { mode: 0o600 });
  }
}

/**
 * Returns why a path of the copy cannot be written, as the end of a sentence that begins with the path: a part of it is a
 * link, a file where a folder is needed, or a folder where a file is needed.
 */
export function findObstacle(folder: string, path: string): string | undefined {
  const parts = path.split('/');
  for (const index of parts.keys()) {
    const found = unlessThrows(() => lstatSync(join(folder, ...parts.slice(0, index + 1))));
    if (found === undefined) return undefined;
    const shown = parts.slice(0, index + 1).join('/');
    if (found.isSymbolicLink()) return index === parts.length - 1 ? 'is a link' : `leads through the link ${shown}`;
    const isLast = index === parts.length - 1;
    if (isLast && !found.isFile()) return 'is not a regular file';
    if (!isLast && !found.isDirectory()) return `is below ${shown}, which is not a folder`;
  }
  return undefined;
}

/** Computes a digest of all files of a bundle. */
export function digestFiles(files: ReadonlyMap<string, string>): string {
  const lines = [...files].map(([path, digest]) => `${digest} ${path}\n`).toSorted();
  return sha256(lines.join(''));
}

/** Returns the digests of the files after the edits. */
export function filesAfter(files: ReadonlyMap<string, string>, edits: readonly FileEdit[]): Map<string, string> {
  const after = new Map(files);
  for (const { path, content } of edits) {
    if (content === null) after.delete(path);
    else after.set(path, sha256(content));
  }
  return after;
}

/** Names that imports and hashes look for in folders above a bundle. */
const usedAbove = ['node_modules', 'package.json', 'tsconfig.json', 'jsconfig.json', ...lockFiles];

/** A folder with more entries, such as one of temporary files, is mirrored by the names in `usedAbove` only. */
const MOST_BESIDE = 500;

/** Makes the folders above the bundle below `root`, with a link for each other entry of these folders. */
function mirrorAbove(bundleFolder: string, root: string): void {
  const { root: top } = parse(bundleFolder);
  const names = relative(top, bundleFolder).split(sep);
  for (const [depth, next] of names.entries()) {
    const above = join(top, ...names.slice(0, depth));
    const mirror = join(root, ...names.slice(0, depth));
    mkdirSync(mirror, { recursive: true, mode: 0o700 });
    const entries = unlessThrows(() => readdirSync(above));
    const beside = entries === undefined || entries.length > MOST_BESIDE ? usedAbove : entries;
    for (const name of beside) {
      const target = join(above, name);
      if (name === next || (beside === usedAbove && lstatSync(target, { throwIfNoEntry: false }) === undefined))
        continue;
      unlessThrows(() => symlinkSync(target, join(mirror, name)));
    }
  }
}

interface FoundFiles {
  readonly folders: string[];
  readonly files: string[];
  readonly links: string[];
  /** The `node_modules` at any depth. */
  readonly packages: string[];
}

function listFiles(bundleFolder: string, leaveOut: readonly string[]): FoundFiles {
  const found: FoundFiles = { folders: [''], files: [], links: [], packages: [] };
  let bytes = 0;
  for (const folder of found.folders) {
    for (const entry of readdirSync(join(bundleFolder, folder), { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.name === '.git' || leaveOut.includes(join(bundleFolder, path))) continue;
      if (entry.name === 'node_modules') found.packages.push(path);
      else if (entry.isSymbolicLink()) found.links.push(path);
      else if (entry.isDirectory()) found.folders.push(path);
      else if (entry.isFile()) {
        bytes += lstatSync(join(bundleFolder, path), { throwIfNoEntry: false })?.size ?? 0;
        found.files.push(path);
      }
      if (found.files.length + found.folders.length + found.links.length > MOST_FILES)
        throw tooLarge(`more than ${MOST_FILES} files`);
      if (bytes > MOST_BYTES) throw tooLarge(`more than ${MOST_BYTES / 1024 / 1024} MB`);
    }
  }
  return found;
}

function tooLarge(problem: string): GoondanError {
  return new GoondanError(
    'E_CHANGESET_LIMIT',
    `The bundle has ${problem}, node_modules not counted, so no copy of it can be tried.`,
    { suggestion: 'Move data out of the folder of the bundle, or change the bundle by hand.' },
  );
}

/** A link to a file of the bundle leads to the same file of the copy; any other link leads where it led before. */
function copyLink(path: string, bundleFolder: string, folder: string): void {
  const link = join(bundleFolder, path);
  const target = unlessThrows(() => realpathSync(link)) ?? resolve(dirname(link), readlinkSync(link));
  const inside = relative(bundleFolder, target);
  symlinkSync(inside.split(sep)[0] === '..' ? target : join(folder, inside), join(folder, path));
}

/** Returns the digest of a file, or `undefined` if the file no longer exists. */
function copyFile(from: string, to: string): string | undefined {
  const stat = lstatSync(from, { throwIfNoEntry: false });
  if (stat?.isFile() !== true) return undefined;
  const content = readFileSync(from);
  const isExecutable = (stat.mode & 0o100) !== 0;
  writeFileSync(to, content, { mode: isExecutable ? 0o700 : 0o600 });
  if (stat.size > MOST_HASHED_BYTES) {
    // Half a millisecond is added, so that rounding does not lead to another millisecond.
    const time = (Math.floor(stat.mtimeMs) + 0.5) / 1_000;
    utimesSync(to, time, time);
  }
  return sha256(content);
}

function toSlashes(path: string): string {
  return path.split(sep).join('/');
}
