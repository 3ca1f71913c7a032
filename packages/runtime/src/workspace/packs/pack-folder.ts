/**
 * Packs the files of a folder into bytes, and puts packed files into a folder. A pack is a compressed JSON text with the
 * path, the content and the executable bit of each file.
 *
 * Invariants:
 * 1. Equal files give equal digests, on every machine: the digest is of paths, contents and executable bits.
 * 2. A pack has files only: a link to a file of the folder becomes this file, and any other link is an error.
 * 3. Nothing is written outside of the folder, whatever the bytes contain, and nothing before all of them are checked.
 */
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { GoondanError } from '@goondan/types';
import { sha256 } from '../../json/sha256.ts';
import { newUuid } from '../../ports/ids.ts';

export interface PackLimits {
  readonly mostFiles: number;
  readonly mostBytes: number;
}

export interface PackedFolder {
  /** SHA-256 of the files. */
  readonly digest: string;
  readonly bytes: Uint8Array;
}

interface PackedFile {
  readonly path: string;
  readonly content: Buffer;
  readonly isExecutable: boolean;
}

/** Returns true for a file or folder that is left out. `path` is relative to the folder, with `/`. */
export type IsLeftOut = (name: string, path: string) => boolean;

/**
 * Packs a folder. `check` gets each file, and throws to refuse it. **Errors** — `E_BUNDLE_LIMIT` when it has too many or
 * too large files, `E_PATH_OUTSIDE` when a link leads out of it; those of `check` and of the disk.
 */
export function packFolder(
  folder: string,
  limits: PackLimits,
  isLeftOut: IsLeftOut,
  check?: (path: string, content: Buffer) => void,
): PackedFolder {
  const files = readFiles(realpathSync(folder), limits, isLeftOut);
  for (const { path, content } of files) check?.(path, content);
  const lines = files.map(({ path, content, isExecutable }) => [path, isExecutable, sha256(content)]);
  const packed = { version: VERSION, files: files.map(toPacked) };
  return { digest: sha256(JSON.stringify(lines)), bytes: gzipSync(JSON.stringify(packed)) };
}

/**
 * Makes the folder hold exactly the packed files, besides those that are left out. Unchanged files are not written.
 * Returns the digest of the files.
 *
 * **Errors** — `E_STORE_CORRUPT` when the bytes are no pack, have a path that leads out, or exceed the limits; then
 * nothing was written. Those of the disk.
 */
export function unpackFolder(bytes: Uint8Array, folder: string, limits: PackLimits, isLeftOut: IsLeftOut): string {
  const files = decode(bytes, limits);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const root = realpathSync(folder);
  removeOthers(root, '', new Set(files.flatMap(({ path }) => withFolders(path))), isLeftOut);
  for (const file of files) writeChanged(root, file);
  return sha256(JSON.stringify(files.map(({ path, content, isExecutable }) => [path, isExecutable, sha256(content)])));
}

const VERSION = 1;
const EXECUTABLE = 0o100;
const LONGEST_PATH = 1_024;

function toPacked({ path, content, isExecutable }: PackedFile): readonly unknown[] {
  return [path, isExecutable, content.toString('base64')];
}

function readFiles(root: string, { mostFiles, mostBytes }: PackLimits, isLeftOut: IsLeftOut): readonly PackedFile[] {
  const files: PackedFile[] = [];
  const folders = [''];
  let bytes = 0;
  for (const folder of folders) {
    for (const { name } of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = folder === '' ? name : `${folder}/${name}`;
      if (isLeftOut(name, path)) continue;
      const found = realFile(root, path);
      const { size, mode } = lstatSync(found);
      if (lstatSync(found).isDirectory()) {
        folders.push(path);
      } else {
        bytes += size;
        if (bytes > mostBytes) throw tooLarge(`more than ${mostBytes} bytes`);
        files.push({ path, content: readFileSync(found), isExecutable: (mode & EXECUTABLE) !== 0 });
      }
      if (files.length + folders.length > mostFiles) throw tooLarge(`more than ${mostFiles} files`);
    }
  }
  return files.toSorted((left, right) => (left.path < right.path ? -1 : 1));
}

/** Returns the real path of a file or folder (invariant 2). */
function realFile(root: string, path: string): string {
  const full = join(root, path);
  const found = lstatSync(full);
  if (found.isFile() || found.isDirectory()) return full;
  if (found.isSymbolicLink()) {
    const target = followLink(full);
    if (target?.startsWith(root + sep) === true && lstatSync(target).isFile()) return target;
  }
  throw new GoondanError(
    'E_PATH_OUTSIDE',
    `${path} is neither a file nor a folder, nor a link to a file of the folder.`,
  );
}

function followLink(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function tooLarge(problem: string): GoondanError {
  const suggestion = 'Move data out of the folder.';
  return new GoondanError('E_BUNDLE_LIMIT', `The folder has ${problem}, so it cannot be packed.`, { suggestion });
}

function decode(bytes: Uint8Array, limits: PackLimits): readonly PackedFile[] {
  const files = parse(bytes, limits);
  if (!Array.isArray(files) || files.length > limits.mostFiles) throw damaged('it has no list of files, or a long one');
  const seen = new Set<string>();
  return files.map((each: unknown) => {
    const [path, isExecutable, content]: readonly unknown[] = Array.isArray(each) ? each : [];
    if (typeof path !== 'string' || typeof isExecutable !== 'boolean' || typeof content !== 'string')
      throw damaged('a file is not described as path, executable bit and content');
    if (!isInside(path)) throw damaged(`the path ${JSON.stringify(path.slice(0, 100))} is not permitted`);
    if (withFolders(path).some((part) => seen.has(part))) throw damaged('two files have the same path');
    seen.add(path);
    return { path, isExecutable, content: Buffer.from(content, 'base64') };
  });
}

function parse(bytes: Uint8Array, { mostBytes, mostFiles }: PackLimits): unknown {
  // Base64 takes four thirds of the bytes, and each file has a path.
  const longest = mostBytes * 2 + mostFiles * LONGEST_PATH;
  let parsed: unknown;
  try {
    parsed = JSON.parse(gunzipSync(bytes, { maxOutputLength: longest }).toString('utf8'));
  } catch {
    throw damaged('its bytes cannot be read');
  }
  if (typeof parsed === 'object' && parsed !== null && 'version' in parsed && parsed.version === VERSION)
    return 'files' in parsed ? parsed.files : undefined;
  throw damaged('it is of another version');
}

function isInside(path: string): boolean {
  if (path.length > LONGEST_PATH || !path.isWellFormed() || /[\p{Cc}\\]/u.test(path)) return false;
  return path.split('/').every((name) => name !== '' && name !== '.' && name !== '..');
}

function damaged(problem: string): GoondanError {
  return new GoondanError('E_STORE_CORRUPT', `Packed files cannot be used: ${problem}.`);
}

/** Returns the path and the folders above it. */
function withFolders(path: string): readonly string[] {
  const names = path.split('/');
  return names.map((_, index) => names.slice(0, index + 1).join('/'));
}

function removeOthers(root: string, folder: string, kept: ReadonlySet<string>, isLeftOut: IsLeftOut): void {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (isLeftOut(entry.name, path)) continue;
    const isWanted = kept.has(path) && (entry.isDirectory() || entry.isFile());
    if (!isWanted) rmSync(join(root, path), { recursive: true, force: true });
    else if (entry.isDirectory()) removeOthers(root, path, kept, isLeftOut);
  }
}

function writeChanged(root: string, { path, content, isExecutable }: PackedFile): void {
  makeFolders(root, dirname(path));
  const full = join(root, path);
  const found = lstatSync(full, { throwIfNoEntry: false });
  const isSame =
    found?.isFile() === true &&
    ((found.mode & EXECUTABLE) !== 0) === isExecutable &&
    found.size === content.length &&
    readFileSync(full).equals(content);
  if (isSame) return;
  if (found !== undefined && !found.isFile()) rmSync(full, { recursive: true });
  const draft = join(root, dirname(path), `.unpack-${newUuid()}`);
  writeFileSync(draft, content, { mode: isExecutable ? 0o700 : 0o600, flag: 'wx' });
  renameSync(draft, full);
}

/** Makes the folders of a file. A file in their place, of an earlier pack, is removed. */
function makeFolders(root: string, path: string): void {
  if (path === '.') return;
  for (const folder of withFolders(path)) {
    const full = join(root, folder);
    const found = lstatSync(full, { throwIfNoEntry: false });
    if (found?.isDirectory() === true) continue;
    if (found !== undefined) rmSync(full);
    mkdirSync(full, { mode: 0o700 });
  }
}
