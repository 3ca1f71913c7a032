import type { Bundle } from '@goondan/runtime/bundle';
import { readDependencies } from './package-json.ts';
import { type InstalledPackage, readPackage } from './read-package.ts';

export interface ListedPackage extends InstalledPackage {
  /** True when the bundle refers to the package. */
  readonly isUsed: boolean;
}

/** Lists the Goondan packages that the bundle's `package.json` lists or that the bundle refers to, sorted by name. */
export async function listPackages({ folder, scope }: Bundle): Promise<ListedPackage[]> {
  const names = new Set([...readDependencies(folder).keys(), ...scope.packages.keys()]);
  const found: ListedPackage[] = [];
  for (const name of [...names].toSorted()) {
    const read = await readPackage(folder, name);
    if (read.type === 'package') found.push({ ...read.installed, isUsed: scope.packages.has(name) });
  }
  return found;
}
