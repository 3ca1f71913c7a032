/**
 * Reads an installed package of Goondan: the declarations of its `goondan.yaml`, checked like those of a bundle. No
 * code of the package runs.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Bundle } from '@goondan/runtime/bundle';
import { findBundlePackage } from '@goondan/runtime/internal';
import { readBundle } from '../bundle/open-bundle.ts';
import { readPackageJson } from './package-json.ts';

export interface InstalledPackage {
  readonly name: string;
  /** `?` when the package has no version, or an invalid one. */
  readonly version: string;
  /** The path where the package is installed; symbolic links are not resolved. */
  readonly path: string;
  readonly bundle: Bundle;
  /** The resources that a bundle can refer to as `Kind/name`, in the order of the package's files. */
  readonly resources: readonly { readonly kind: string; readonly name: string }[];
}

/** `folder` is the bundle's folder. `absent`: the package is not installed. `foreign`: it has no `goondan.yaml`. */
export async function readPackage(folder: string, name: string): Promise<InstalledPackage | 'absent' | 'foreign'> {
  const found = findBundlePackage(folder, name);
  if (found === undefined) return 'absent';
  if (!existsSync(join(found.folder, 'goondan.yaml'))) return 'foreign';
  const bundle = await readBundle(found.folder);
  const version = versionIn(found.folder);
  const resources = bundle.scope.resources
    .filter(({ kind }) => kind !== 'Package')
    .map((loaded) => ({ kind: loaded.kind, name: loaded.name }));
  return { name, version, path: found.path, bundle, resources };
}

/** Reads the version from the package's `package.json`, whose content is not trusted. */
function versionIn(folder: string): string {
  try {
    const { version } = readPackageJson(folder) ?? {};
    return typeof version === 'string' && /^[\w.+-]{1,100}$/.test(version) ? version : '?';
  } catch {
    return '?';
  }
}

/** Formats a reference. A package name that begins with `@` needs quotes in YAML. */
export function referenceText({ kind, name }: InstalledPackage['resources'][number], packageName: string): string {
  const quoted = packageName.startsWith('@') ? `'${packageName}'` : packageName;
  return `{ kind: ${kind}, name: ${name}, package: ${quoted} }`;
}
