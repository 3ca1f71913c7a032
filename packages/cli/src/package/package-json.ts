/** The `package.json` of a folder, as npm understands it; what npm would refuse is refused here in the same breath. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
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
  try {
    const parsed: unknown = JSON.parse(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''));
    if (isObject(parsed)) return parsed;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    const reason = error instanceof Error ? error.message : String(error);
    throw new GoondanError('E_PACKAGE_FILE', `"${path}" cannot be read: ${reason}.`, { cause: error });
  }
  throw new GoondanError('E_PACKAGE_FILE', `"${path}" cannot be read: it holds no object.`);
}

function objectIn(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
