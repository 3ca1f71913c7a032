/**
 * `npm run shape`: prints the size of the repository beside the budgets of `shape.json`, and fails above a budget, as
 * `test/shape.test.ts` does. A budget only goes down.
 *
 * code lines      lines of `packages/NAME/{src,bin}` with anything but white space and comments, without tests and without
 *                 the folders testing/, simulation/, wire/ and fixtures/
 * files           the files of these lines
 * test lines      all lines of `*.test.ts(x)`, in every folder
 * words           words of all Markdown pages
 * named types     `interface`, `type` and `enum` declarations in the counted files
 * tooling lines   code lines of scripts/ and bench/, without tests
 *
 * Commands, options, YAML fields and error codes are counted on the generated reference pages.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Node, type SourceFile, SyntaxKind } from 'typescript/unstable/ast';
import { readTree, withProject } from './read-doors.ts';

export const repository = join(import.meta.dir, '..');

const { budgets: owned, lent }: Readonly<Record<'budgets' | 'lent', Readonly<Record<string, number>>>> = JSON.parse(
  read('shape.json'),
);
/** With what is lent until one store has replaced another (docs/decisions.md). */
export const budgets: Readonly<Record<string, number>> = Object.fromEntries(
  Object.entries(owned).map(([name, most]) => [name, most + (lent[name] ?? 0)]),
);

/** The numbers of each package and of the rest of the repository (`elsewhere`), and their sums in `total`. */
export type Shape = Readonly<Record<string, Readonly<Record<string, number>> & { readonly total: number }>>;

export async function measureShape(): Promise<Shape> {
  const files = listFiles();
  const counted = files.filter(isCounted);
  const tooling = files.filter(
    (path) => /^(?:scripts|bench)\/.*\.m?ts$|^scripts\/.*\.mjs$/.test(path) && !isTest(path),
  );
  const sources = await measureSources(repository, [...counted, ...tooling]);
  const of = (path: string) => sources.get(path) ?? { codeLines: 0, namedTypes: 0 };
  const cli = read('docs/reference/cli.md');
  return {
    'code lines': sumUp(counted, (path) => of(path).codeLines),
    files: sumUp(counted, () => 1),
    'test lines': sumUp(files.filter(isTest), (path) => read(path).split('\n').length - 1),
    words: sumUp(
      files.filter((path) => path.endsWith('.md')),
      (path) => read(path).match(/\S+/g)?.length ?? 0,
    ),
    'named types': sumUp(counted, (path) => of(path).namedTypes),
    'tooling lines': sumUp(tooling, (path) => of(path).codeLines),
    // A command that only groups others has no options.
    commands: { total: findAll(cli, /^\| (option) /gm).length },
    options: { total: new Set(findAll(cli, /^\| `(?:-\w, )?(--[a-z-]+)/gm)).size },
    'YAML fields': { total: countFields(read('docs/reference/configuration.md')) },
    'error codes': { total: findAll(read('docs/errors.md'), /^## (E_\w+)/gm).length },
    'npm scripts': { total: Object.keys(JSON.parse(read('package.json')).scripts).length },
  };
}

/** Lists the files that git has or would add. */
export function listFiles(): string[] {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const names = execFileSync('git', args, { cwd: repository, encoding: 'utf8' }).split('\0');
  return [...new Set(names)].filter((path) => path !== '' && existsSync(join(repository, path)));
}

const isTest = (path: string) => /\.test\.tsx?$/.test(path);

/** Tells whether a file is production code. */
export function isCounted(path: string): boolean {
  const isSource = /^packages\/[^/]+\/(?:src|bin)\/.*\.(?:ts|tsx|mjs|cjs|css)$/.test(path);
  return isSource && !/\.test\.|\/(?:testing|simulation|wire|fixtures)\//.test(path);
}

function sumUp(paths: readonly string[], count: (path: string) => number): Shape[string] {
  const sums: Record<string, number> & { total: number } = { total: 0 };
  for (const path of paths) {
    const [top, name = ''] = path.split('/');
    const column = top === 'packages' ? name : 'elsewhere';
    const number = count(path);
    sums[column] = (sums[column] ?? 0) + number;
    sums.total += number;
  }
  return sums;
}

interface Source {
  readonly codeLines: number;
  readonly namedTypes: number;
}

/** Measures modules and style sheets. The paths are relative to the folder. */
export async function measureSources(folder: string, paths: readonly string[]): Promise<Map<string, Source>> {
  const isStyle = (path: string) => path.endsWith('.css');
  const sources = new Map<string, Source>();
  for (const path of paths.filter(isStyle)) {
    const text = readFileSync(join(folder, path), 'utf8');
    sources.set(path, { codeLines: countLines(text, literalsOfStyle(text)), namedTypes: 0 });
  }
  const modules = paths.filter((path) => !isStyle(path));
  await withProject(folder, modules, async (project) => {
    for (const path of modules) sources.set(path, measureModule(await readTree(project, join(folder, path))));
  });
  return sources;
}

function measureModule(tree: SourceFile): Source {
  const spans: Span[] = [];
  let namedTypes = 0;
  const visit = (node: Node): void => {
    const start = node.getStart(tree);
    if (literals.has(node.kind) && start < node.end) spans.push([start, node.end]);
    if (typeKinds.has(node.kind)) namedTypes += 1;
    node.forEachChild(visit);
  };
  tree.forEachChild(visit);
  return { codeLines: countLines(tree.text, spans), namedTypes };
}

const literals: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.StringLiteral,
  SyntaxKind.NoSubstitutionTemplateLiteral,
  SyntaxKind.TemplateHead,
  SyntaxKind.TemplateMiddle,
  SyntaxKind.TemplateTail,
  SyntaxKind.RegularExpressionLiteral,
  SyntaxKind.JsxText,
]);

const typeKinds: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.InterfaceDeclaration,
  SyntaxKind.TypeAliasDeclaration,
  SyntaxKind.EnumDeclaration,
]);

/** The start and end of a literal, in characters. */
type Span = readonly [from: number, to: number];

function literalsOfStyle(text: string): Span[] {
  return [...text.matchAll(/\/\*[\s\S]*?\*\/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'/g)]
    .filter(([found]) => !found.startsWith('/*'))
    .map(({ 0: found, index }) => [index, index + found.length]);
}

/** Counts the lines of code. A comment sign inside a literal does not start a comment. */
function countLines(text: string, spans: readonly Span[]): number {
  const pieces: string[] = [];
  let at = 0;
  for (const [from, to] of spans.toSorted(([a], [b]) => a - b)) {
    pieces.push(withoutComments(text.slice(at, from)), text.slice(from, to));
    at = to;
  }
  pieces.push(withoutComments(text.slice(at)));
  return findAll(pieces.join(''), /^(.*\S)/gm).length;
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\/.*|\/\*[^]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, ''));
}

/** Counts the distinct fields below each heading. */
function countFields(page: string): number {
  const sections = page.split(/^#+ /m).map((section) => new Set(findAll(section, /^\| `([^`]+)`/gm)).size);
  return sections.reduce((total, each) => total + each, 0);
}

function findAll(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, found = '']) => found);
}

function read(path: string): string {
  return readFileSync(join(repository, path), 'utf8');
}

/** Returns a sentence for each number above its budget, and for each number or budget without the other. */
export function listExcesses(shape: Shape, allowed: Readonly<Record<string, number>>): string[] {
  return [...new Set([...Object.keys(shape), ...Object.keys(allowed)])].flatMap((name) => {
    const [now, most] = [shape[name]?.total, allowed[name]];
    if (now === undefined) return [`shape.json has a budget for ${name}, which nothing counts. Remove it.`];
    if (most === undefined) return [`${name} has no budget. Add it to shape.json: ${now}.`];
    if (now <= most) return [];
    return [`${name}: ${now}, the budget is ${most}. Take ${now - most} away; \`npm run shape\` shows each package.`];
  });
}

/** Renders a row for each number: the sum, its budget, and the share of each package. */
function render(shape: Shape): string {
  const columns = [...new Set(['total', 'budget', ...Object.values(shape).flatMap(Object.keys)])];
  const rows = Object.entries(shape).map(([name, numbers]) => [
    name,
    ...columns.map((column) => String((column === 'budget' ? budgets[name] : numbers[column]) ?? '')),
  ]);
  const lines = [['', ...columns], ...rows].map(
    ([name = '', ...cells]) => name.padEnd(14) + cells.map((cell) => cell.padStart(10)).join(''),
  );
  return [...lines, '', ...listExcesses(shape, budgets)].join('\n');
}

if (import.meta.main) {
  const shape = await measureShape();
  console.log(render(shape));
  if (listExcesses(shape, budgets).length > 0) process.exitCode = 1;
}
