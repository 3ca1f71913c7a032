/**
 * Finds the imports of a module by parsing it; none of its code runs. Follows imports inside the same folder, so that
 * an error three files deep is found too, and hashes every file it reads.
 */
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, extname, join, relative, sep } from 'node:path';
import { V010_PACKAGE } from '../../v010-package.ts';
import { findBundlePackage, findPackage } from './find-package.ts';
import { sha256 } from '../../../json/sha256.ts';
import { readField } from '../../../json/read-field.ts';
import { unlessThrows } from '../../../ports/unless-throws.ts';

export interface ModuleScan {
  /** A hash of the module and of everything it imports from its folder. */
  readonly digest: string;
  /** The files that the digest covers, relative to the root and sorted. */
  readonly files: readonly string[];
  /** True if one of the files imports a file of the folder with `import()` or `require`, which may run at any time. */
  readonly isLazy: boolean;
  readonly problems: readonly ImportProblem[];
}

export interface ImportProblem {
  readonly type: 'missing' | 'syntax' | 'limit';
  /** The file with the problem, relative to the root; for a syntax error, with line and column. */
  readonly file: string;
  /** The import as it is written, or the message of the parser. */
  readonly text: string;
  /** True for `import()` and `require`, whose failure the code may expect. */
  readonly isOptional: boolean;
}

/** The maximum number of files of one bundle and its packages together. */
const MOST_FILES = 2_000;
/** The maximum number of imports that are looked up, of one bundle or one package. */
const MOST_IMPORTS = 20_000;
/** The maximum number of imports that lead nowhere. Each of them costs many looks at the disk. */
const MOST_MISSING = 200;
/** A larger file is compared by its size and its time in milliseconds. */
export const MOST_HASHED_BYTES = 5 * 1024 * 1024;

/** Bun's loader by file extension. Any other file is data without imports. */
export const moduleLoaders: Readonly<Record<string, Bun.JavaScriptLoader>> = {
  '.ts': 'ts',
  '.mts': 'ts',
  '.cts': 'ts',
  '.tsx': 'tsx',
  '.js': 'jsx',
  '.mjs': 'jsx',
  '.cjs': 'jsx',
  '.jsx': 'jsx',
};

/** Packages that the runtime provides or contains. */
const providedPackages: readonly string[] = ['@goondan/types', '@goondan/core', 'bun'];

/**
 * The scanner of one bundle. It scans each module once, and limits the number of files of all modules together. It needs
 * Bun; `openScanner` works everywhere.
 */
export class ModuleScanner {
  readonly #scans = new Map<string, ModuleScan>();
  readonly #files = new Map<string, ScannedFile>();
  readonly #transpilers = new Map<Bun.JavaScriptLoader, Bun.Transpiler>();
  #filesLeft = MOST_FILES;
  /** The number of imports that may still be looked up, by root. */
  readonly #importsLeft = new Map<string, { all: number; missing: number }>();

  scan(file: string, root: string): ModuleScan {
    const scan = this.#scans.get(file) ?? this.#scanModule(file, root);
    this.#scans.set(file, scan);
    return scan;
  }

  #scanModule(file: string, root: string): ModuleScan {
    const problems: ImportProblem[] = [];
    const hashes = new Map<string, string>();
    const waiting = [file];
    let isLazy = false;
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (hashes.has(next)) continue;
      if (this.#filesLeft === 0) {
        const text = `was not checked: all modules together have more than ${MOST_FILES} files`;
        problems.push({ type: 'limit', file: relative(root, next), text, isOptional: true });
        break;
      }
      this.#filesLeft -= 1;
      const scanned = this.#scanFile(next, root);
      hashes.set(next, scanned.hash);
      problems.push(...scanned.problems);
      isLazy ||= scanned.isLazy;
      waiting.push(...scanned.imports);
    }
    const files = [...hashes].map(([path, hash]) => ({ file: relative(root, path), hash }));
    const hashed = files.map(({ file: path, hash }) => `${path} ${hash}`).toSorted();
    const names = files.map(({ file: path }) => path).toSorted();
    return { digest: sha256(hashed.join('\n')), files: names, isLazy, problems };
  }

  /** Reads a file once for each root, however many modules import it. */
  #scanFile(file: string, root: string): ScannedFile {
    const key = `${root}\0${file}`;
    const known = this.#files.get(key);
    if (known !== undefined) return known;
    const scanned = this.#readImports(file, root);
    this.#files.set(key, scanned);
    return scanned;
  }

  #readImports(file: string, root: string): ScannedFile {
    const shown = relative(root, file);
    const code = readCode(file);
    const none = { imports: [], isLazy: false };
    if (code === undefined) return { ...none, hash: '', problems: [syntaxProblem(shown, 'it cannot be read')] };
    const hash = sha256(code);
    const loader = moduleLoaders[extname(file)];
    if (loader === undefined || typeof code === 'string') return { ...none, hash, problems: [] };
    const imports: string[] = [];
    const problems: ImportProblem[] = [];
    const left = this.#importsLeft.get(root) ?? { all: MOST_IMPORTS, missing: MOST_MISSING };
    this.#importsLeft.set(root, left);
    let isLazy = false;
    for (const { path, kind } of withoutRepeats(scanCode(code, this.#transpilerOf(loader), shown, problems))) {
      if (left.all === 0 || left.missing === 0) {
        problems.push({ type: 'limit', file: shown, text: tooManyImports(shown), isOptional: true });
        break;
      }
      left.all -= 1;
      const found = locate(path, file, root);
      const isDynamic = kind !== 'import-statement';
      if (typeof found === 'object') {
        imports.push(found.file);
        isLazy ||= isDynamic;
      } else if (found === 'missing') {
        left.missing -= 1;
        problems.push({ type: 'missing', file: shown, text: path, isOptional: isDynamic });
      }
    }
    return { hash, imports, isLazy, problems };
  }

  #transpilerOf(loader: Bun.JavaScriptLoader): Bun.Transpiler {
    // Type-only imports are removed when the module runs, so they are left out here, too.
    const transpiler = this.#transpilers.get(loader) ?? new Bun.Transpiler({ loader, trimUnusedImports: true });
    this.#transpilers.set(loader, transpiler);
    return transpiler;
  }
}

interface ScannedFile {
  readonly hash: string;
  /** The imported files that are inside the same root. */
  readonly imports: readonly string[];
  readonly isLazy: boolean;
  readonly problems: readonly ImportProblem[];
}

/** Leaves out an import that the file has written before in the same way. */
function withoutRepeats(imports: readonly Bun.Import[]): Iterable<Bun.Import> {
  return new Map(imports.map((each) => [`${each.kind} ${each.path}`, each])).values();
}

function tooManyImports(file: string): string {
  return `was not checked from ${file} on: its modules have more than ${MOST_IMPORTS} imports, or more than ${MOST_MISSING} that lead nowhere`;
}

/** Returns the code of a file. For a file larger than `MOST_HASHED_BYTES`, returns its size and date instead. */
function readCode(file: string): Buffer | string | undefined {
  return unlessThrows(() => {
    const { size, mtimeMs } = statSync(file);
    return size > MOST_HASHED_BYTES ? `${size} ${Math.floor(mtimeMs)}` : readFileSync(file);
  });
}

function scanCode(code: Buffer, transpiler: Bun.Transpiler, shown: string, problems: ImportProblem[]): Bun.Import[] {
  try {
    return transpiler.scanImports(code);
  } catch (error) {
    const first: unknown = error instanceof AggregateError ? (error.errors[0] ?? error) : error;
    const position = readField(first, 'position');
    const [line, column] = [readField(position, 'line'), readField(position, 'column')];
    const at = typeof line === 'number' && typeof column === 'number' ? `:${line}:${column}` : '';
    problems.push(syntaxProblem(`${shown}${at}`, String(readField(first, 'message'))));
    return [];
  }
}

function syntaxProblem(file: string, text: string): ImportProblem {
  return { type: 'syntax', file, text, isOptional: false };
}

/**
 * Finds the file of an import. Returns `missing` if there is none, and `elsewhere` if the import does not lead to a
 * file inside `root`.
 */
function locate(specifier: string, from: string, root: string): { readonly file: string } | 'missing' | 'elsewhere' {
  if (specifier.startsWith('.')) return locateFile(join(dirname(from), specifier), root);
  // Absolute paths, URLs, built-in modules, and names from `imports` of a `package.json` (`#…`) are not checked.
  if (specifier.startsWith('#')) return locateAlias(specifier, from, root);
  if (/^(?:\/|node:|bun:|data:|file:)/.test(specifier) || isBuiltin(specifier)) return 'elsewhere';
  const [name = ''] = /^(?:@[^/]+\/)?[^/]+/.exec(specifier) ?? [];
  if (providedPackages.includes(name) || findPackage(dirname(from), name) !== undefined) return 'elsewhere';
  if (name === V010_PACKAGE && findBundlePackage(dirname(from), name) !== undefined) return 'elsewhere';
  return isAliased(specifier, name, dirname(from)) ? locateAlias(specifier, from, root) : 'missing';
}

/**
 * Finds the file of an import that a `tsconfig.json` or `package.json` defines. Bun reads these files once, so an import
 * that is not found may still be defined.
 */
function locateAlias(specifier: string, from: string, root: string): { readonly file: string } | 'elsewhere' {
  const found = unlessThrows(() => realFile(Bun.resolveSync(specifier, dirname(from))));
  const parts = found === undefined ? [] : relative(root, found).split(sep);
  return found === undefined || parts[0] === '..' || parts.includes('node_modules') ? 'elsewhere' : { file: found };
}

const endings = [
  '',
  ...Object.keys(moduleLoaders),
  '.json',
  ...Object.keys(moduleLoaders).map((end) => `/index${end}`),
];

function locateFile(path: string, root: string): ReturnType<typeof locate> {
  // TypeScript allows importing a file by the name of its compiled form.
  const asSource = path.replace(/\.(c|m)?js(x?)$/, '.$1ts$2');
  for (const candidate of [...endings.map((ending) => path + ending), asSource]) {
    const file = realFile(candidate);
    if (file !== undefined) return relative(root, file).split(sep)[0] === '..' ? 'elsewhere' : { file };
  }
  return 'missing';
}

function realFile(path: string): string | undefined {
  return unlessThrows(() => (statSync(path).isFile() ? realpathSync(path) : undefined));
}

/**
 * Returns true if a `tsconfig.json` above the module may define this import, or if the import names the package that
 * contains the module. Such imports are not checked.
 */
function isAliased(specifier: string, name: string, from: string): boolean {
  for (let folder = from; ; folder = dirname(folder)) {
    if (explains(readSmall(join(folder, 'tsconfig.json')), specifier)) return true;
    if (readName(join(folder, 'package.json')) === name) return true;
    if (dirname(folder) === folder) return false;
  }
}

/**
 * Returns true if a `tsconfig.json` may define an import. With a `baseUrl` it may define any import; otherwise one of
 * its `paths` must match. The file is JSON with comments, so it is searched instead of parsed.
 */
function explains(tsconfig: string, specifier: string): boolean {
  if (/"baseUrl"\s*:/.test(tsconfig)) return true;
  const [, paths = ''] = /"paths"\s*:\s*\{([^}]*)/.exec(tsconfig) ?? [];
  return [...paths.matchAll(/"([^"]*)"\s*:/g)].some(([, pattern = '']) => {
    const [before = '', after] = pattern.split('*');
    if (after === undefined) return pattern === specifier;
    return specifier.startsWith(before) && specifier.endsWith(after);
  });
}

function readName(path: string): unknown {
  return unlessThrows(() => JSON.parse(readSmall(path) || '{}').name);
}

/** Reads a file. Returns '' when the file does not exist or is too large. */
function readSmall(path: string): string {
  const file = realFile(path);
  return file === undefined || statSync(file).size > MOST_HASHED_BYTES ? '' : readFileSync(file, 'utf8');
}
