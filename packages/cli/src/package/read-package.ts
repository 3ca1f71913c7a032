/**
 * Reads an installed package of Goondan: the declarations of its `goondan.yaml`, checked like those of a bundle. None
 * of its code runs.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Bundle } from '@goondan/runtime/bundle';
import { findBundlePackage } from '@goondan/runtime/internal';
import { readBundle } from '../bundle/open-bundle.ts';
import { readPackageJson } from './package-json.ts';

export interface InstalledPackage {
  readonly name: string;
  /** `?` when it has none, or an invalid one. */
  readonly version: string;
  /** The installed path, with links not resolved. */
  readonly path: string;
  readonly bundle: Bundle;
  /** `Kind/name` of the resources to refer to, in the order of its files. */
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

/** `folder` is that of the bundle. */
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

/** Reads the version from the package's own file, which is not trusted. */
function versionIn(folder: string): string {
  try {
    const { version } = readPackageJson(folder) ?? {};
    return typeof version === 'string' && /^[\w.+-]{1,100}$/.test(version) ? version : '?';
  } catch {
    return '?';
  }
}

/** Writes a reference. A name that begins with `@` needs quotes in YAML. */
export function referenceText({ kind, name }: OfferedResource, packageName: string): string {
  const quoted = packageName.startsWith('@') ? `'${packageName}'` : packageName;
  return `{ kind: ${kind}, name: ${name}, package: ${quoted} }`;
}
