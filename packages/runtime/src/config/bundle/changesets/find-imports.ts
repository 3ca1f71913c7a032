/**
 * Finds the files of a bundle that modules import when they run. It asks Bun's own resolver, because a new file may win
 * over the file that an import meant before: by its extension, as an `index` file, or through `baseUrl` of a
 * `tsconfig.json`. The scan of `config/bundle/files` lists only the files that an import names.
 */
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, extname, join, relative, sep } from 'node:path';
import { unlessThrows } from '../../../ports/unless-throws.ts';
import { moduleLoaders } from '../files/scan-module.ts';
import type { BundleCopy } from './copy-bundle.ts';

const LARGEST = 5 * 1024 * 1024;

/** Returns the paths of the modules and their imports, at any depth, relative to the bundle. Packages are left out. */
export function findImports(
  copy: Pick<BundleCopy, 'folder'>,
  bundleFolder: string,
  modules: readonly string[],
): Set<string> {
  const found = new Set<string>();
  const waiting = modules.flatMap((path) => unlessThrows(() => inBundle(realpathSync(join(copy.folder, path)))) ?? []);
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (found.has(path)) continue;
    found.add(path);
    const file = join(copy.folder, path);
    for (const specifier of listSpecifiers(file)) {
      const resolved = unlessThrows(() => realpathSync(Bun.resolveSync(specifier, dirname(file))));
      const imported = resolved === undefined ? undefined : inBundle(resolved);
      if (imported !== undefined) waiting.push(imported);
    }
  }
  return found;

  /** A package of the bundle's own folder is reached through `node_modules`, so outside of the copy. */
  function inBundle(file: string): string | undefined {
    return pathInside(copy.folder, file) ?? pathInside(bundleFolder, file);
  }
}

/** Returns the path of a file relative to a folder; `undefined` if the file is elsewhere or belongs to a package. */
export function pathInside(folder: string, file: string): string | undefined {
  const parts = relative(folder, file).split(sep);
  return parts[0] === '..' || parts[0] === '' || parts.includes('node_modules') ? undefined : parts.join('/');
}

function listSpecifiers(file: string): readonly string[] {
  const loader = moduleLoaders[extname(file)];
  if (loader === undefined) return [];
  // A module that does not parse is an error of the bundle, which is reported elsewhere.
  return (
    unlessThrows(() => {
      if (statSync(file).size > LARGEST) return [];
      return new Bun.Transpiler({ loader }).scanImports(readFileSync(file)).map(({ path }) => path);
    }) ?? []
  );
}
