/** Finds out which files of a bundle belong to its existing parts. No changeset may change these. */
import { readFileSync } from 'node:fs';
import { basename, dirname, extname, join, posix } from 'node:path';
import { unlessThrows } from '../../../ports/unless-throws.ts';
import { foldPath } from '../../../workspace/changesets/find-path-problem.ts';
import type { Bundle, LoadedResource, Scope } from '../bundle.ts';
import { moduleLoaders } from '../files/scan-module.ts';
import { KEEPER } from '../resolve/resolve-agent.ts';
import type { BundleCopy } from './copy-bundle.ts';
import { findImports, pathInside } from './find-imports.ts';
import { listSettings, type Setting } from './list-settings.ts';

export interface UsedFiles {
  /** Files that existing parts import, before or after the changeset, each with `Kind/name` of a part. */
  readonly imported: ReadonlyMap<string, string>;
  /** The folders of packages that are inside the bundle. */
  readonly packages: readonly string[];
  readonly settings: readonly Setting[];
  /** The code of existing parts, which may read files without importing them. */
  readonly code: readonly { readonly path: string; readonly text: string }[];
}

/** `addedTools`: tools of earlier changesets, whose code may still change. `copy`: the changed bundle. */
export function findUsedFiles(bundle: Bundle, copy: BundleCopy, addedTools: readonly string[]): UsedFiles {
  const { folder, scope } = bundle;
  const existing = scope.resources.filter(({ kind, name }) => kind !== 'Tool' || !addedTools.includes(name));
  const imported = new Map<string, string>();
  const add = (paths: Iterable<string>, identity: string) => {
    for (const path of paths) if (!imported.has(path)) imported.set(path, identity);
  };
  for (const loaded of existing) {
    add(loaded.files ?? [], loaded.identity);
    add(findImports(copy, folder, modulesOf(loaded)), loaded.identity);
  }
  const settings = listSettings(existing, folder);
  for (const { identity, text, isCommand } of settings) {
    if (isCommand) add(findImports(copy, folder, modulesIn(text, copy)), identity);
  }
  const packages: string[] = [];
  for (const { folder: home, package: name = '', resources } of listPackages(scope)) {
    const inside = pathInside(folder, home);
    if (inside !== undefined) packages.push(inside);
    for (const loaded of resources) {
      const modules = modulesOf(loaded).flatMap((path) => pathInside(folder, join(home, path)) ?? []);
      add(findImports(copy, folder, modules), `${loaded.identity} of ${name}`);
    }
  }
  const code = [...imported.keys()].flatMap((path) => {
    const text =
      extname(path) in moduleLoaders ? unlessThrows(() => readFileSync(join(folder, path), 'utf8')) : undefined;
    return text === undefined ? [] : [{ path, text: foldPath(text) }];
  });
  return { imported, packages, settings, code };
}

/** Returns the part that uses a file, and how, as the end of a sentence that begins with the path. */
export function findUse(path: string, used: UsedFiles): string | undefined {
  const importer = used.imported.get(path);
  if (importer !== undefined) return `is part of ${importer}, which no changeset may change`;
  const home = used.packages.find((folder) => path.startsWith(`${folder}/`));
  if (home !== undefined) return `belongs to the package in ${home}, which no changeset may change`;
  const setting = used.settings.find((each) => namesFile(each, path));
  return setting && `is named in the settings of ${setting.identity}, so no changeset may change it`;
}

/** Lists the folders that settings name and in which a file is, at any depth. */
export function listNamedFolders(path: string, { settings }: UsedFiles) {
  const file = foldPath(path);
  return settings.flatMap(({ identity, folders }) =>
    folders.filter((folder) => file.startsWith(`${folder}/`)).map((folder) => ({ identity, folder })),
  );
}

/**
 * Returns the module of an existing part that names this data file, and probably reads it. A new file is recognised only
 * with its folder, because files of other folders may have the same name.
 */
export function findReader(path: string, isNew: boolean, { code }: UsedFiles): string | undefined {
  const name = foldPath(isNew || isCommonName(path) ? path.split('/').slice(-2).join('/') : basename(path));
  return code.find(({ text }) => text.includes(name))?.path;
}

function isCommonName(path: string): boolean {
  return /^(?:skill|readme|index)\./i.test(basename(path));
}

function namesFile({ text, isCommand }: Setting, path: string): boolean {
  const [folded, file] = [foldPath(text), foldPath(path)];
  if (folded.includes(file)) return true;
  if (!isCommand) return false;
  if (!isCommonName(path) && folded.includes(basename(file))) return true;
  for (let folder = dirname(file); folder !== '.'; folder = dirname(folder)) {
    if (namesFolder(folded, folder)) return true;
  }
  return false;
}

/** Returns true if a command names a folder itself, or its files with a pattern. */
function namesFolder(command: string, folder: string): boolean {
  for (let at = command.indexOf(folder); at >= 0; at = command.indexOf(folder, at + 1)) {
    if (/^\/?(?:$|[^\p{L}\p{N}_./-])/u.test(command.slice(at + folder.length))) return true;
  }
  return false;
}

function modulesOf({ kind, resource }: LoadedResource): string[] {
  if (kind !== 'Tool' && kind !== 'Extension' && kind !== 'Connector') return [];
  const keeper = resource.metadata.annotations?.[KEEPER];
  return [resource.spec.entry, ...(keeper === undefined ? [] : [keeper])].map((path) => posix.normalize(path));
}

/** Lists the modules of the bundle that a command names. */
function modulesIn(text: string, { files }: BundleCopy): string[] {
  const words = text.split(/[\s"'=;&|()]+/).map((word) => posix.normalize(word));
  return words.filter((word) => extname(word) in moduleLoaders && files.has(word));
}

function listPackages(scope: Scope): readonly Scope[] {
  const found = new Set<Scope>(scope.packages.values());
  // The loop adds to the set while iterating it, because packages refer to packages.
  for (const { packages } of found) for (const other of packages.values()) found.add(other);
  found.delete(scope);
  return [...found];
}
