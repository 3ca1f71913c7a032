/** A package as a person types it and npm reads it: a name with a version, a folder, a tarball, or an address. */
import { existsSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import type { Dependencies } from './package-json.ts';

/**
 * Makes paths absolute, because npm does not run in the current folder.
 *
 * @example fixSpec('./tools-1.0.0.tgz', '/home/me') // '/home/me/tools-1.0.0.tgz'
 */
export function fixSpec(typed: string, cwd: string): string {
  const path = typed.replace(/^file:(?!\/\/)/, '');
  return isPath(typed, cwd) ? resolve(cwd, path) : typed;
}

function isPath(typed: string, cwd: string): boolean {
  if (/^(\.{1,2}(\/|$)|\/|file:(?!\/\/))/.test(typed)) return true;
  // `tools-1.0.0.tgz` is a file; `me/tools.tgz` may be a file, or a repository of the user `me`.
  return /\.(tgz|tar|tar\.gz)$/i.test(typed) && !typed.includes(':') && existsSync(resolve(cwd, typed));
}

/** Returns the name under which npm added the package to `package.json`; `undefined` when it is ambiguous. */
export function installedName(
  spec: string,
  before: Dependencies,
  after: Dependencies,
  folder: string,
): string | undefined {
  const [, named] = /^((?:@[^/@:]+\/)?[^/@:]+)(?:@.*)?$/.exec(spec) ?? [];
  if (named !== undefined && after.has(named)) return named;
  const changed = [...after.keys()].find((name) => before.get(name) !== after.get(name));
  // Nothing changed, because the package was already installed from the same place.
  return changed ?? [...after].find(([, wanted]) => isAbsolute(spec) && leadsTo(wanted, folder) === spec)?.[0];
}

function leadsTo(wanted: string, folder: string): string | undefined {
  return wanted.startsWith('file:') ? resolve(folder, wanted.slice('file:'.length)) : undefined;
}
