/** Parses modules with the compiler, and reads the public entry points of packages ("doors"). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SourceFile } from 'typescript/unstable/ast';
import { API, type Symbol as ModuleSymbol, type Project } from 'typescript/unstable/async';

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

const configOf = (folder: string) => join(folder, 'read-doors.tsconfig.json');

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

/** Lists the exports of a module, in the compiler's order. */
export async function exportsOf(project: Project, path: string): Promise<readonly ModuleSymbol[]> {
  const module = await project.checker.getSymbolAtLocation(await readTree(project, path));
  return module === undefined ? [] : project.checker.getExportsOfModule(module);
}
