import { join } from 'node:path';
import { readInstallFile } from './package-json.ts';

/** Lists the installed packages that have an install script, as recorded by npm, sorted by name. */
export function packagesWithScripts(folder: string): string[] {
  try {
    const noted: unknown = JSON.parse(readInstallFile(join(folder, 'node_modules', '.package-lock.json')) ?? '{}');
    const packages = Object.entries(valueIn(noted, 'packages') ?? {});
    const found = packages.filter(([, entry]) => valueIn(entry, 'hasInstallScript') === true);
    return [...new Set(found.map(([path, entry]) => nameOf(path, entry)))];
  } catch {
    // Nothing is installed, or this is an npm workspace whose packages are installed in another folder.
    return [];
  }
}

/** Returns the recorded name; for a linked folder without a name, its path. */
function nameOf(path: string, entry: unknown): string {
  const name = valueIn(entry, 'name');
  return typeof name === 'string' ? name : path.replace(/^.*node_modules\//, '');
}

function valueIn(value: unknown, key: string): unknown {
  // The cast is safe: an object may have any keys, and their values stay unknown.
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[key] : undefined;
}
