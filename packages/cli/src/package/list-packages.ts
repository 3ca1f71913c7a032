import type { Bundle } from '@goondan/runtime/bundle';
import { readDependencies } from './package-json.ts';
import { type InstalledPackage, readPackage } from './read-package.ts';

/**
 * Lists the Goondan packages that the bundle's `package.json` lists or that the bundle refers to, sorted by name.
 * `isUsed`: the bundle refers to the package.
 */
export async function listPackages({ folder, scope }: Bundle) {
  const names = new Set([...readDependencies(folder).keys(), ...scope.packages.keys()]);
  const found: (InstalledPackage & { readonly isUsed: boolean })[] = [];
  for (const name of [...names].toSorted()) {
    const read = await readPackage(folder, name);
    if (typeof read === 'object') found.push({ ...read, isUsed: scope.packages.has(name) });
  }
  return found;
}
