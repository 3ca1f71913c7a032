/** Reads the `package.json` of a folder as npm does, and rejects the files that npm would reject. */
import { join } from 'node:path';
import { readTextFile, refusalText } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';

/** The requested version of each directly installed package, by name. */
export type Dependencies = ReadonlyMap<string, string>;

const sections = ['dependencies', 'devDependencies', 'optionalDependencies'] as const;

/** Returns an empty map when the file does not exist. **Errors** — `E_PACKAGE_FILE`. */
export function readDependencies(folder: string): Dependencies {
  const manifest = readPackageJson(folder);
  const entries = sections.flatMap((section) => Object.entries(objectIn(manifest?.[section])));
  return new Map(entries.flatMap(([name, wanted]) => (typeof wanted === 'string' ? [[name, wanted] as const] : [])));
}

/** Returns `undefined` when the file does not exist. **Errors** — `E_PACKAGE_FILE`. */
export function readPackageJson(folder: string): Readonly<Record<string, unknown>> | undefined {
  const path = join(folder, 'package.json');
  const text = readInstallFile(path);
  if (text === undefined) return undefined;
  try {
    const parsed: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    if (isObject(parsed)) return parsed;
  } catch (error) {
    throw unreadable(path, error instanceof Error ? error.message : String(error), error);
  }
  throw unreadable(path, 'it does not contain an object');
}

/** The maximum size of a file in bytes. The lock file of a large project has a few megabytes. */
const LARGEST = 64 * 1024 * 1024;

/** Reads a file that npm reads or writes; `undefined` when it does not exist. **Errors** — `E_PACKAGE_FILE`. */
export function readInstallFile(path: string): string | undefined {
  const read = readTextFile(path, LARGEST);
  if (read.type === 'text') return read.text;
  if (read.type === 'missing') return undefined;
  throw unreadable(path, read.type === 'bytes' ? 'it is not text' : `it ${refusalText(read.reason, LARGEST)}`);
}

function unreadable(path: string, reason: string, cause?: unknown): GoondanError {
  return new GoondanError('E_PACKAGE_FILE', `"${path}" cannot be read: ${reason}.`, { cause });
}

function objectIn(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
