import type { Bundle } from '@goondan/runtime/bundle';
import { readDependencies } from './package-json.ts';
import { type InstalledPackage, readPackage } from './read-package.ts';

export interface ListedPackage extends InstalledPackage {
  /** The bundle refers to it. */
  readonly isUsed: boolean;
}

/** The packages of Goondan that the bundle's `package.json` lists, or that the bundle refers to; by name. */
export async function listPackages({ folder, scope }: Bundle): Promise<ListedPackage[]> {
  const names = new Set([...readDependencies(folder).keys(), ...scope.packages.keys()]);
  const found: ListedPackage[] = [];
  for (const name of [...names].toSorted()) {
    const read = await readPackage(folder, name);
    if (read.type === 'package') found.push({ ...read.installed, isUsed: scope.packages.has(name) });
  }
  return found;
}
