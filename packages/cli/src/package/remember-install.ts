/**
 * Saves the state of an install before a change, so that it can be restored: `package.json` and the lock file byte by
 * byte, and `node_modules` with npm.
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readDependencies, readInstallFile } from './package-json.ts';

const lockFiles = ['package-lock.json', 'npm-shrinkwrap.json'];

/** Reads the files of an install. `folder` is a path without symbolic links. **Errors** — `E_PACKAGE_FILE`. */
export function rememberInstall(folder: string) {
  const manifest = join(folder, 'package.json');
  const own = [manifest, ...lockFiles.map((name) => join(folder, name))];
  // In an npm workspace, the lock file is in a parent folder.
  const above = foldersAbove(folder).flatMap((each) => lockFiles.map((name) => join(each, name)));
  const texts = new Map(
    [...own, ...above.filter((path) => existsSync(path))].map((path) => [path, readInstallFile(path)]),
  );
  const modules = join(folder, 'node_modules');
  const hadModules = existsSync(modules);
  const hadManifest = texts.get(manifest) !== undefined;
  return {
    /** Restores the files, and lets `npm` restore `node_modules`. Does nothing if nothing changed. */
    async putBack(npm: (...args: string[]) => Promise<void>): Promise<void> {
      const changed = [...texts].filter(([path, text]) => readInstallFile(path) !== text);
      // If the manifest was created for this change, all packages it lists were added. npm needs a manifest here;
      // without one it would use a project in a parent folder.
      const added = hadManifest || !hadModules ? [] : [...readDependencies(folder).keys()];
      if (added.length > 0) await npm('uninstall', '--ignore-scripts', '--', ...added);
      for (const [path, text] of changed) writeText(path, text);
      if (!hadModules) return rmSync(modules, { recursive: true, force: true });
      if (changed.length > 0 && hadManifest) await npm('install', '--ignore-scripts', '--no-save');
    },
  };
}

function foldersAbove(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [] : [parent, ...foldersAbove(parent)];
}

function writeText(path: string, text: string | undefined): void {
  if (text === undefined) rmSync(path, { force: true });
  else writeFileSync(path, text);
}
