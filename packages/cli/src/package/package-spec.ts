/** What a person types to name a package, as npm reads it: a name with a version, a folder, a tarball, an address. */
import { existsSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import type { Dependencies } from './package-json.ts';

/**
 * As it is handed to npm, which runs in another folder than the one it was typed in.
 *
 * @example fixSpec('./tools-1.0.0.tgz', '/home/me') // '/home/me/tools-1.0.0.tgz'
 */
export function fixSpec(typed: string, cwd: string): string {
  const path = typed.replace(/^file:(?!\/\/)/, '');
  return isPath(typed, cwd) ? resolve(cwd, path) : typed;
}

function isPath(typed: string, cwd: string): boolean {
  if (/^(\.{1,2}(\/|$)|\/|file:(?!\/\/))/.test(typed)) return true;
  // `tools-1.0.0.tgz` is a file; `me/tools.tgz` may be one, or a repository of somebody called me.
  return /\.(tgz|tar|tar\.gz)$/i.test(typed) && !typed.includes(':') && existsSync(resolve(cwd, typed));
}

/** Under which name `package.json` has it, after npm put it there. `undefined` when that cannot be told. */
export function installedName(
  spec: string,
  before: Dependencies,
  after: Dependencies,
  folder: string,
): string | undefined {
  const [, named] = /^((?:@[^/@:]+\/)?[^/@:]+)(?:@.*)?$/.exec(spec) ?? [];
  if (named !== undefined && after.has(named)) return named;
  const changed = [...after.keys()].find((name) => before.get(name) !== after.get(name));
  // It was there before, from the same place.
  return changed ?? [...after].find(([, wanted]) => isAbsolute(spec) && leadsTo(wanted, folder) === spec)?.[0];
}

function leadsTo(wanted: string, folder: string): string | undefined {
  return wanted.startsWith('file:') ? resolve(folder, wanted.slice('file:'.length)) : undefined;
}
