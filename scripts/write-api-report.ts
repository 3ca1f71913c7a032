/**
 * `npm run api:report`: writes `api.md` of `@goondan/types` and `@goondan/runtime`. The page has the declarations of
 * each public entry point ("door"), so that a diff shows every change of the public API. A door that semantic
 * versioning does not cover is listed only by name, because it may change at any time.
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

export interface ApiReports {
  /** The text of each report, by the path of the report. */
  readonly pages: ReadonlyMap<string, string>;
  /** The exported names of each door, by the name of the door. */
  readonly doors: ReadonlyMap<string, readonly string[]>;
}

export async function renderApiReports(): Promise<ApiReports> {
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
        const pages = new Map<string, string>();
        const names = new Map<string, readonly string[]>();
        for (const name of reported) {
          const sections: string[] = [];
          for (const [door, path] of modules.filter(([, each]) => each.startsWith(`${name}/`))) {
            const exported = await exportsOf(project, join(work, path));
            names.set(
              door,
              exported.map((symbol) => symbol.name),
            );
            sections.push(await renderDoor(project, door, exported));
          }
          pages.set(join(repository, 'packages', name, 'api.md'), await format([head(name), ...sections].join('\n')));
        }
        return { pages, doors: names };
      },
    );
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Formats a page as `npm run format` does. */
async function format(page: string): Promise<string> {
  const command = [process.execPath, 'fmt', '--no-script', '--stdin-filepath=api.md'];
  const child = Bun.spawn(command, { cwd: repository, stdin: new Blob([page]), stdout: 'pipe', stderr: 'inherit' });
  const [text] = await Promise.all([child.stdout.text(), child.exited]);
  if (child.exitCode !== 0) throw new Error('The report cannot be formatted.');
  return text;
}

const head = (name: string) => `# API of @goondan/${name}

Written by \`npm run api:report\` from the sources. Do not edit it.
`;

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
  const title = `## ${door}\n\n${exported.length} names.\n`;
  if (unversioned.includes(door)) return `${title}\n${exported.map(({ name }) => `- \`${name}\``).join('\n')}\n`;
  const declarations = await Promise.all(exported.map((symbol) => declarationOf(project, symbol)));
  return `${title}\n\`\`\`ts\n${declarations.join('\n\n')}\n\`\`\`\n`;
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

if (import.meta.main) {
  for (const [path, text] of (await renderApiReports()).pages) writeFileSync(path, text);
}
