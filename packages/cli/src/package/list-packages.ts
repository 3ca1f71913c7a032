import type { Bundle } from '@goondan/runtime/bundle';
import { readDependencies } from './package-json.ts';
import { type InstalledPackage, readPackage } from './read-package.ts';

export interface ListedPackage extends InstalledPackage {
  /** True when the bundle refers to it. */
  readonly isUsed: boolean;
}

/** Lists the packages of Goondan that the bundle's `package.json` lists or the bundle refers to, by name. */
export async function listPackages({ folder, scope }: Bundle): Promise<ListedPackage[]> {
  const names = new Set([...readDependencies(folder).keys(), ...scope.packages.keys()]);
  const found: ListedPackage[] = [];
  for (const name of [...names].toSorted()) {
    const read = await readPackage(folder, name);
    if (read.type === 'package') found.push({ ...read.installed, isUsed: scope.packages.has(name) });
  }
  return found;
}
