/** The `package.json` of a folder, as npm understands it; what npm would refuse is refused here in the same breath. */
import { join } from 'node:path';
import { readTextFile, refusalText } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';

/** What is installed on purpose, by name: what was asked for. */
export type Dependencies = ReadonlyMap<string, string>;

const sections = ['dependencies', 'devDependencies', 'optionalDependencies'] as const;

/** None where there is no such file. **Errors** — `E_PACKAGE_FILE`. */
export function readDependencies(folder: string): Dependencies {
  const manifest = readPackageJson(folder);
  const entries = sections.flatMap((section) => Object.entries(objectIn(manifest?.[section])));
  return new Map(entries.flatMap(([name, wanted]) => (typeof wanted === 'string' ? [[name, wanted] as const] : [])));
}

/** `undefined` where there is none. **Errors** — `E_PACKAGE_FILE`. */
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
  throw unreadable(path, 'it holds no object');
}

/** A lock file of a large project has a few megabytes. */
const LARGEST = 64 * 1024 * 1024;

/** The text of a file that npm reads or writes; `undefined` where there is none. **Errors** — `E_PACKAGE_FILE`. */
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
