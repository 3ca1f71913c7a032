/**
 * `npm run count-shape`: measures the size of the production code, to compare commits. Without arguments it counts the
 * working tree; `npm run count-shape -- 03ba8c5 HEAD` counts these two commits, each in its own column.
 *
 * The compiler does the parsing: a comment is found only where the syntax tree has no string, template, regular
 * expression or JSX text. `definitions` is printed at the head of every report.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Node, type SourceFile, SyntaxKind } from 'typescript/unstable/ast';
import type { Project } from 'typescript/unstable/async';
import { listDoors, readDoor, readTree, withProject } from './read-doors.ts';

const definitions = `Counted are the files packages/*/{src,bin}/**/*.{ts,tsx,mjs,cjs,css}, except tests (*.test.*) and the folders testing/,
simulation/, wire/ and fixtures/.

code lines       lines with anything but white space and comments on them
comment lines    lines with a comment and nothing else; their share is of code lines and comment lines together
named types      declarations with \`interface\`, \`type\` and \`enum\`; classes are counted beside them
anonymous types  object types of more than three fields that are not the whole of a \`type\` declaration
names with Chain distinct names of types, classes, functions and variables of modules
doors            the \`exports\` of the manifests; a class or a function is a value, unless exported as a type only
`;

const counted = 'packages/*/{src,bin}/**/*.{ts,tsx,mjs,cjs,css}';
const notCounted = /\.test\.|\/(?:testing|simulation|wire|fixtures)\//;

/** The rows of a report, in order: the name and the number of each. */
export type Shape = Readonly<Record<string, number | string>>;

/** Measures the code of the packages below a folder. The folder's `node_modules` must contain Goondan's own packages. */
export async function countShape(folder: string): Promise<Shape> {
  const paths = [...new Bun.Glob(counted).scanSync(folder)].filter((path) => !notCounted.test(path)).toSorted();
  const doors = listDoors(folder);
  const isStyle = (path: string) => path.endsWith('.css');
  const modules = paths.filter((path) => !isStyle(path));

  return withProject(folder, [...modules, ...doors.values()], async (project) => {
    const trees: SourceFile[] = [];
    const lines = new Map<string, Lines>();
    for (const path of modules) {
      const tree = await readTree(project, join(folder, path));
      trees.push(tree);
      lines.set(path, countLines(tree.text, literalsIn(tree)));
    }
    for (const path of paths.filter(isStyle)) {
      const text = readFileSync(join(folder, path), 'utf8');
      lines.set(path, countLines(text, literalsOfStyle(text)));
    }
    return {
      files: paths.length,
      ...describeLines(lines),
      ...describeDeclarations(trees),
      ...(await describeDoors(project, folder, doors)),
    };
  });
}

interface Lines {
  readonly code: number;
  readonly comment: number;
}

/** The start and end of a text range, in characters. */
type Span = readonly [from: number, to: number];

const literals: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.StringLiteral,
  SyntaxKind.NoSubstitutionTemplateLiteral,
  SyntaxKind.TemplateHead,
  SyntaxKind.TemplateMiddle,
  SyntaxKind.TemplateTail,
  SyntaxKind.RegularExpressionLiteral,
  SyntaxKind.JsxText,
]);

function literalsIn(tree: SourceFile): Span[] {
  const spans: Span[] = [];
  walk(tree, (node) => {
    const start = node.getStart(tree);
    if (literals.has(node.kind) && start < node.end) spans.push([start, node.end]);
  });
  return spans.toSorted(([a], [b]) => a - b);
}

function literalsOfStyle(text: string): Span[] {
  return [...text.matchAll(/\/\*[\s\S]*?\*\/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'/g)]
    .filter(([found]) => !found.startsWith('/*'))
    .map(({ 0: found, index }) => [index, index + found.length]);
}

/** Counts the lines of a text. `spans` are the literals, in which a comment sign does not start a comment. */
function countLines(text: string, spans: readonly Span[]): Lines {
  const starts = new Map(spans);
  const code = new Set<number>();
  const comment = new Set<number>();
  let line = 0;
  for (let at = 0; at < text.length;) {
    const inLiteral = starts.get(at);
    const kind = text.slice(at, at + 2);
    const isComment = inLiteral === undefined && (kind === '//' || kind === '/*');
    const to = inLiteral ?? (isComment ? endOfComment(text, at, kind) : at + 1);
    for (; at < to; at += 1) {
      if (text[at] === '\n') line += 1;
      else if (!/\s/.test(text[at] ?? '')) (isComment ? comment : code).add(line);
    }
  }
  return { code: code.size, comment: comment.difference(code).size };
}

function endOfComment(text: string, at: number, kind: string): number {
  const closing = kind === '//' ? '\n' : '*/';
  const found = text.indexOf(closing, at + 2);
  if (found === -1) return text.length;
  return kind === '//' ? found : found + closing.length;
}

function describeLines(lines: ReadonlyMap<string, Lines>): Shape {
  const sum = (of: keyof Lines, below = '') =>
    [...lines].filter(([path]) => path.startsWith(below)).reduce((total, [, each]) => total + each[of], 0);
  const names = new Set([...lines.keys()].map((path) => path.split('/', 2).join('/')));
  const [code, comment] = [sum('code'), sum('comment')];
  return {
    'code lines': code,
    ...Object.fromEntries([...names].map((name) => [`  of ${name}`, sum('code', `${name}/`)])),
    'comment lines': comment,
    'share of comments': `${((100 * comment) / (code + comment)).toFixed(1)} %`,
  };
}

function describeDeclarations(trees: readonly SourceFile[]): Shape {
  const counts = new Map<SyntaxKind, number>();
  let anonymous = 0;
  const chains = new Map<string, SyntaxKind>();
  for (const tree of trees) {
    walk(tree, (node, parent) => {
      counts.set(node.kind, (counts.get(node.kind) ?? 0) + 1);
      if (isLargeAnonymous(node, parent)) anonymous += 1;
    });
    for (const [name, kind] of declaredNames(tree)) if (name.includes('Chain')) chains.set(name, kind);
  }
  const count = (kind: SyntaxKind) => counts.get(kind) ?? 0;
  return {
    'named types': [...typeKinds].reduce((total, kind) => total + count(kind), 0),
    '  interface': count(SyntaxKind.InterfaceDeclaration),
    '  type': count(SyntaxKind.TypeAliasDeclaration),
    classes: count(SyntaxKind.ClassDeclaration),
    'anonymous types': anonymous,
    'names with Chain': chains.size,
    '  of types': [...chains.values()].filter((kind) => typeKinds.has(kind)).length,
  };
}

function isLargeAnonymous(node: Node, parent: Node): boolean {
  if (node.kind !== SyntaxKind.TypeLiteral || parent.kind === SyntaxKind.TypeAliasDeclaration) return false;
  let fields = 0;
  node.forEachChild(() => {
    fields += 1;
  });
  return fields > 3;
}

const typeKinds: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.InterfaceDeclaration,
  SyntaxKind.TypeAliasDeclaration,
  SyntaxKind.EnumDeclaration,
]);

const nameKinds: ReadonlySet<SyntaxKind> = new Set([
  ...typeKinds,
  SyntaxKind.ClassDeclaration,
  SyntaxKind.FunctionDeclaration,
  SyntaxKind.VariableDeclaration,
]);

/** Lists the names that a module declares; names inside functions are left out. */
function declaredNames(tree: SourceFile): [name: string, kind: SyntaxKind][] {
  const found: [string, SyntaxKind][] = [];
  const visit = (node: Node) => {
    if (nameKinds.has(node.kind)) {
      node.forEachChild((child) => {
        if (child.kind === SyntaxKind.Identifier) found.push([child.getText(tree), node.kind]);
        // The first identifier is the name.
        return child.kind === SyntaxKind.Identifier;
      });
    }
    if (node.kind === SyntaxKind.VariableStatement || node.kind === SyntaxKind.VariableDeclarationList) {
      node.forEachChild(visit);
    }
  };
  for (const statement of tree.statements) visit(statement);
  return found;
}

function walk(node: Node, visit: (node: Node, parent: Node) => void): void {
  node.forEachChild((child) => {
    visit(child, node);
    walk(child, visit);
  });
}

async function describeDoors(project: Project, folder: string, doors: ReadonlyMap<string, string>): Promise<Shape> {
  const rows: Record<string, string> = {};
  for (const [door, path] of doors) {
    const exported = await readDoor(project, join(folder, path));
    const values = exported.filter(({ isValue }) => isValue).length;
    rows[`door ${door}`] = `${values} values, ${exported.length - values} types`;
  }
  return rows;
}

/** Renders one column per commit, or one column for the working tree. */
async function report(commits: readonly string[]): Promise<string> {
  const repository = resolve(import.meta.dir, '..');
  const shapes = new Map<string, Shape>();
  if (commits.length === 0) shapes.set('now', await countShape(repository));
  for (const commit of commits) shapes.set(commit, await countCommit(repository, commit));

  const rows = new Set([...shapes.values()].flatMap((shape) => Object.keys(shape)));
  const cells = [...rows].map((row) => [row, ...[...shapes.values()].map((shape) => String(shape[row] ?? '–'))]);
  const lines = [['', ...shapes.keys()], ...cells].map(([row = '', ...columns]) =>
    [row.padEnd(30), ...columns.map((cell) => cell.padStart(22))].join(''),
  );
  return [definitions, ...lines, ''].join('\n');
}

async function countCommit(repository: string, commit: string): Promise<Shape> {
  const folder = mkdtempSync(join(tmpdir(), 'goondan-shape-'));
  try {
    await Bun.$`git -C ${repository} archive ${commit} packages | tar -x -C ${folder}`.quiet();
    linkModules(repository, folder);
    return await countShape(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Links third-party packages as installed here, and Goondan's own packages from the commit. */
function linkModules(repository: string, folder: string): void {
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '@goondan'), { recursive: true });
  for (const name of readdirSync(join(repository, 'node_modules'))) {
    if (name !== '@goondan') symlinkSync(join(repository, 'node_modules', name), join(modules, name));
  }
  for (const name of readdirSync(join(folder, 'packages'))) {
    symlinkSync(join(folder, 'packages', name), join(modules, '@goondan', name));
  }
}

if (import.meta.main) process.stdout.write(await report(process.argv.slice(2)));
