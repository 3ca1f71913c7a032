/** An installed package of Goondan: what its `goondan.yaml` declares, checked as a bundle is, and nothing of it run. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Bundle } from '@goondan/runtime/bundle';
import { findBundlePackage } from '@goondan/runtime/internal';
import { readBundle } from '../bundle/open-bundle.ts';
import { readPackageJson } from './package-json.ts';

export interface InstalledPackage {
  readonly name: string;
  /** `?` when it does not say, or says what is none. */
  readonly version: string;
  /** As it is installed, links not resolved. */
  readonly path: string;
  readonly bundle: Bundle;
  /** `Kind/name` of what can be referred to, in the order of its files. */
  readonly resources: readonly OfferedResource[];
}

export interface OfferedResource {
  readonly kind: string;
  readonly name: string;
}

export type ReadPackage =
  | { readonly type: 'package'; readonly installed: InstalledPackage }
  /** Not installed. */
  | { readonly type: 'absent' }
  /** It has no `goondan.yaml`. */
  | { readonly type: 'foreign' };

/** `folder`: of the bundle. */
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

/** As it says itself; it was written by somebody else. */
function versionIn(folder: string): string {
  try {
    const { version } = readPackageJson(folder) ?? {};
    return typeof version === 'string' && /^[\w.+-]{1,100}$/.test(version) ? version : '?';
  } catch {
    return '?';
  }
}

/** As it is written where a reference belongs. A name that begins with `@` needs quotes in YAML. */
export function referenceText({ kind, name }: OfferedResource, packageName: string): string {
  const quoted = packageName.startsWith('@') ? `'${packageName}'` : packageName;
  return `{ kind: ${kind}, name: ${name}, package: ${quoted} }`;
}
