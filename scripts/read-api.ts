/**
 * Reads the declarations of each public entry point ("door") of `@goondan/types` and `@goondan/runtime`, for the
 * snapshot that shows every change of the public API. A door that semantic versioning does not cover is listed only by
 * name, because it may change at any time.
 *
 * The compiler writes the declarations, without comments, as `scripts/pack-packages.ts` ships them.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Node, SyntaxKind } from 'typescript/unstable/ast';
import { type Symbol as ModuleSymbol, type Project, SymbolFlags } from 'typescript/unstable/async';
import { runCompiler } from './compile-packages.ts';
import { exportsOf, listDoors, withProject } from './read-doors.ts';

const repository = resolve(import.meta.dir, '..');

const reported: readonly string[] = ['types', 'runtime'];

/** The doors that semantic versioning does not cover. */
const unversioned: readonly string[] = ['@goondan/runtime/internal', '@goondan/types/http'];

export interface Door {
  readonly names: readonly string[];
  /** The declarations of the names, or only the names. */
  readonly text: string;
}

/** Returns each door by its name. */
export async function readApi(): Promise<Map<string, Door>> {
  const doors = [...listDoors(repository)].filter(([, path]) =>
    reported.some((name) => path.startsWith(`packages/${name}/`)),
  );
  const work = mkdtempSync(join(tmpdir(), 'goondan-api-'));
  try {
    await emitDeclarations(work);
    const modules = doors.map(([door, path]) => [door, path.replace(/^packages\/(.*)\.ts$/, '$1.d.ts')] as const);
    return await withProject(
      work,
      modules.map(([, path]) => path),
      async (project) => {
        const api = new Map<string, Door>();
        for (const [door, path] of modules) {
          const exported = await exportsOf(project, join(work, path));
          api.set(door, { names: exported.map(({ name }) => name), text: await renderDoor(project, door, exported) });
        }
        return api;
      },
    );
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * Writes `types/src/index.d.ts` and so on into a folder. All sources are passed to the compiler, because it writes no
 * declarations for a source that it reaches only through `node_modules`.
 */
async function emitDeclarations(folder: string): Promise<void> {
  const sources = [...new Bun.Glob(`packages/{${reported.join()}}/src/**/*.ts`).scanSync(repository)];
  const files = sources.filter((path) => !path.endsWith('.test.ts'));
  const config = join(folder, 'tsconfig.json');
  const compilerOptions = {
    noEmit: false,
    // Types are not checked here, because `npm run types` checks them.
    noCheck: true,
    declaration: true,
    emitDeclarationOnly: true,
    removeComments: true,
    typeRoots: [join(repository, 'node_modules/@types')],
    rootDir: join(repository, 'packages'),
    outDir: folder,
  };
  const text = {
    extends: join(repository, 'tsconfig.json'),
    compilerOptions,
    files: files.map((path) => join(repository, path)),
    include: [],
  };
  writeFileSync(config, JSON.stringify(text));
  await runCompiler(repository, config);
}

async function renderDoor(project: Project, door: string, symbols: readonly ModuleSymbol[]): Promise<string> {
  const exported = symbols.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  if (unversioned.includes(door)) return exported.map(({ name }) => name).join('\n');
  return (await Promise.all(exported.map((symbol) => declarationOf(project, symbol)))).join('\n\n');
}

async function declarationOf(project: Project, symbol: ModuleSymbol): Promise<string> {
  const isAlias = (symbol.flags & SymbolFlags.Alias) !== 0;
  const { declarations } = isAlias ? await project.checker.getAliasedSymbol(symbol) : symbol;
  const nodes = await Promise.all(declarations.map((handle) => handle.resolve(project)));
  if (nodes.length === 0) throw new Error(`${symbol.name} has no declaration`);
  return nodes.map((node) => (node === undefined ? '' : textOf(node))).join('\n');
}

function textOf(node: Node): string {
  if (node.kind !== SyntaxKind.VariableDeclaration) return node.getText();
  // The statement is two levels above the symbol. String types, such as the texts of the error catalogue, are not part
  // of the public API.
  return node.parent.parent.getText().replaceAll(/(?<=: )(['"]).*\1(?=;$)/gm, 'string');
}
