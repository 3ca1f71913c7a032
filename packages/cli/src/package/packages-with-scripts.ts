import { join } from 'node:path';
import { readInstallFile } from './package-json.ts';

/** Lists the installed packages with an install script, as npm recorded them; by name. */
export function packagesWithScripts(folder: string): string[] {
  try {
    const noted: unknown = JSON.parse(readInstallFile(join(folder, 'node_modules', '.package-lock.json')) ?? '{}');
    const packages = Object.entries(valueIn(noted, 'packages') ?? {});
    const found = packages.filter(([, entry]) => valueIn(entry, 'hasInstallScript') === true);
    return [...new Set(found.map(([path, entry]) => nameOf(path, entry)))];
  } catch {
    // Nothing is installed, or it is an npm workspace whose packages are elsewhere.
    return [];
  }
}

/** Returns the recorded name; for a linked folder without one, its path. */
function nameOf(path: string, entry: unknown): string {
  const name = valueIn(entry, 'name');
  return typeof name === 'string' ? name : path.replace(/^.*node_modules\//, '');
}

function valueIn(value: unknown, key: string): unknown {
  // The key may be any, and its value is unknown.
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[key] : undefined;
}
