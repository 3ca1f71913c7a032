/** Reads the public entry points ("doors") of packages with the compiler, for `count-shape` and the API report. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Node, SourceFile } from 'typescript/unstable/ast';
import { API, type Symbol as ModuleSymbol, type Project, SymbolFlags } from 'typescript/unstable/async';

export interface DoorExport {
  readonly name: string;
  /** True when the door exports the name as a value; false when it exports only a type. */
  readonly isValue: boolean;
}

/** Returns the module of each door, relative to the folder, by the name of the door. */
export function listDoors(folder: string): Map<string, string> {
  const doors = new Map<string, string>();
  for (const path of [...new Bun.Glob('packages/*/package.json').scanSync(folder)].toSorted()) {
    const manifest: { name: string; exports?: Record<string, string> } = JSON.parse(
      readFileSync(join(folder, path), 'utf8'),
    );
    for (const [door, module] of Object.entries(manifest.exports ?? {})) {
      if (module.endsWith('.ts')) doors.set(join(manifest.name, door), join(path, '..', module));
    }
  }
  return doors;
}

/** Opens files and all their imports in the compiler, and closes them after `use` has finished. */
export async function withProject<Result>(
  folder: string,
  files: readonly string[],
  use: (project: Project) => Promise<Result>,
): Promise<Result> {
  const api = new API({ cwd: folder, fs: withConfig(folder, files) });
  try {
    const [project] = (await api.updateSnapshot({ openProjects: [configOf(folder)] })).getProjects();
    if (project === undefined) throw new Error(`${folder} cannot be read`);
    return await use(project);
  } finally {
    await api.close();
  }
}

const configOf = (folder: string) => join(folder, 'count-shape.tsconfig.json');

/** Adds a virtual configuration file, which does not exist on disk. */
function withConfig(folder: string, files: readonly string[]) {
  const compilerOptions = {
    target: 'ESNext',
    module: 'ESNext',
    moduleResolution: 'bundler',
    jsx: 'react-jsx',
    types: [],
    allowJs: true,
    allowImportingTsExtensions: true,
    noEmit: true,
  };
  const text = JSON.stringify({ compilerOptions, files });
  const isConfig = (path: string) => path === configOf(folder);
  return {
    readFile: (path: string) => (isConfig(path) ? text : undefined),
    fileExists: (path: string) => (isConfig(path) ? true : undefined),
  };
}

export async function readTree(project: Project, path: string): Promise<SourceFile> {
  const tree = await project.program.getSourceFile(path);
  if (tree === undefined) throw new Error(`${path} cannot be parsed`);
  return tree;
}

export async function readDoor(project: Project, path: string): Promise<DoorExport[]> {
  const exported = await exportsOf(project, path);
  return Promise.all(exported.map(async (each) => ({ name: each.name, isValue: await isValue(project, each) })));
}

/** Lists the exports of a module, in the compiler's order. */
export async function exportsOf(project: Project, path: string): Promise<readonly ModuleSymbol[]> {
  const module = await project.checker.getSymbolAtLocation(await readTree(project, path));
  return module === undefined ? [] : project.checker.getExportsOfModule(module);
}

/** Follows re-exports to find out whether an export is a value: a single `export type` on the way makes it a type. */
async function isValue(project: Project, symbol: ModuleSymbol): Promise<boolean> {
  if ((symbol.flags & SymbolFlags.Alias) === 0) return (symbol.flags & SymbolFlags.Value) !== 0;
  const [handle] = symbol.declarations;
  const specifier = await handle?.resolve(project);
  if (specifier !== undefined && isTypeOnly(specifier)) return false;
  const next = await project.checker.getImmediateAliasedSymbol(symbol);
  return next !== undefined && (await isValue(project, next));
}

/** Detects `export type { X }` and `export { type X }`: the keyword is on the statement or on the name. */
function isTypeOnly(specifier: Node): boolean {
  for (let node: Node | undefined = specifier; node !== undefined; node = node.parent) {
    if ('isTypeOnly' in node && node.isTypeOnly === true) return true;
  }
  return false;
}
