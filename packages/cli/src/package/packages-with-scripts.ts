import { join } from 'node:path';
import { readInstallFile } from './package-json.ts';

/** The installed packages that want to run something when they are installed, as npm has noted them down; by name. */
export function packagesWithScripts(folder: string): string[] {
  try {
    const noted: unknown = JSON.parse(readInstallFile(join(folder, 'node_modules', '.package-lock.json')) ?? '{}');
    const packages = Object.entries(valueIn(noted, 'packages') ?? {});
    const found = packages.filter(([, entry]) => valueIn(entry, 'hasInstallScript') === true);
    return [...new Set(found.map(([path, entry]) => nameOf(path, entry)))];
  } catch {
    // Nothing is installed, or it is a workspace of npm and stands elsewhere.
    return [];
  }
}

/** Of a folder that is linked to, the path; unless npm noted its name. */
function nameOf(path: string, entry: unknown): string {
  const name = valueIn(entry, 'name');
  return typeof name === 'string' ? name : path.replace(/^.*node_modules\//, '');
}

function valueIn(value: unknown, key: string): unknown {
  // Any other key of an object is as unknown as this one.
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[key] : undefined;
}
