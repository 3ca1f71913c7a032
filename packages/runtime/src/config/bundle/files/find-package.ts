/** Where an npm package is installed, as Node looks for it: in `node_modules` here, then in those of the folders above. */
import { realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What npm allows; so no name can lead anywhere else. */
export const packageNamePattern = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/;

/** The folder it is installed in, and its real path. */
export function findPackage(from: string, name: string): { path: string; folder: string } | undefined {
  if (!packageNamePattern.test(name)) return undefined;
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, 'node_modules', name);
    if (isFolder(path)) return { path, folder: realpathSync(path) };
    if (dirname(folder) === folder) return undefined;
  }
}

/** A package that a bundle refers to: those of Goondan itself come with it, and need not be installed again. */
export function findBundlePackage(from: string, name: string): ReturnType<typeof findPackage> {
  return findPackage(from, name) ?? (name.startsWith('@goondan/') ? findPackage(import.meta.dir, name) : undefined);
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
