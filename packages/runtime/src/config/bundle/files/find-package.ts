/** Finds an installed npm package as Node does: in `node_modules` of a folder, then of its parent folders. */
import { realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unlessThrows } from '../../../ports/unless-throws.ts';

/** Allows only names that npm allows, so that no name can lead out of `node_modules`. */
export const packageNamePattern = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/;

/**
 * Returns the folder of an installed package: as `path` below `node_modules`, and as `folder` with all links resolved.
 */
export function findPackage(from: string, name: string): { path: string; folder: string } | undefined {
  if (!packageNamePattern.test(name)) return undefined;
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, 'node_modules', name);
    if (isFolder(path)) return { path, folder: realpathSync(path) };
    if (dirname(folder) === folder) return undefined;
  }
}

/** Finds a package that a bundle refers to. Goondan's own packages come with the runtime and need not be installed. */
export function findBundlePackage(from: string, name: string): ReturnType<typeof findPackage> {
  return (
    findPackage(from, name) ??
    (name.startsWith('@goondan/') ? findPackage(dirname(fileURLToPath(import.meta.url)), name) : undefined)
  );
}

export function isFolder(path: string): boolean {
  return unlessThrows(() => statSync(path).isDirectory()) ?? false;
}
