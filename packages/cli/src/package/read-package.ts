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
  readonly resources: readonly OfferedResource[];
}

export interface OfferedResource {
  readonly kind: string;
  readonly name: string;
}

export type ReadPackage =
  | { readonly type: 'package'; readonly installed: InstalledPackage }
  /** The package is not installed. */
  | { readonly type: 'absent' }
  /** The package has no `goondan.yaml`. */
  | { readonly type: 'foreign' };

/** `folder` is the bundle's folder. */
export async function readPackage(folder: string, name: string): Promise<ReadPackage> {
  const found = findBundlePackage(folder, name);
  if (found === undefined) return { type: 'absent' };
  if (!existsSync(join(found.folder, 'goondan.yaml'))) return { type: 'foreign' };
  const bundle = await readBundle(found.folder);
  const version = versionIn(found.folder);
  const resources = bundle.scope.resources
    .filter(({ kind }) => kind !== 'Package')
    .map((loaded) => ({ kind: loaded.kind, name: loaded.name }));
  return { type: 'package', installed: { name, version, path: found.path, bundle, resources } };
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
export function referenceText({ kind, name }: OfferedResource, packageName: string): string {
  const quoted = packageName.startsWith('@') ? `'${packageName}'` : packageName;
  return `{ kind: ${kind}, name: ${name}, package: ${quoted} }`;
}
