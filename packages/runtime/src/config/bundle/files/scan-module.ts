/**
 * Finds the imports of a module by parsing it; none of its code runs. Follows imports inside the same folder, so that
 * an error three files deep is found too, and hashes every file it reads.
 */
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, extname, join, relative, sep } from 'node:path';
import { findPackage } from './find-package.ts';
import { sha256 } from '../../../json/sha256.ts';
import { readField } from '../../../json/read-field.ts';

export interface ModuleScan {
  /** A hash of the module and of everything it imports from its folder. */
  readonly digest: string;
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
const MOST_BYTES = 5 * 1024 * 1024;

type Loader = 'ts' | 'tsx' | 'jsx';

/** Bun's loader by file extension. Any other file is data without imports. */
export const moduleLoaders: Readonly<Record<string, Loader>> = {
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
 * Creates the scanner of one bundle. It scans each module once, and limits the number of files of all modules together.
 * It needs Bun; `openScanner` works everywhere.
 */
export function moduleScanner(): (file: string, root: string) => ModuleScan {
  const scans = new Map<string, ModuleScan>();
  const shared: Shared = { budget: MOST_FILES, files: new Map(), transpilers: new Map() };
  return (file, root) => {
    const scan = scans.get(file) ?? scanModule(file, root, shared);
    scans.set(file, scan);
    return scan;
  };
}

/** The state that all modules of a bundle share. */
interface Shared {
  /** The number of files that may still be scanned. */
  budget: number;
  readonly files: Map<string, ScannedFile | undefined>;
  readonly transpilers: Map<Loader, Bun.Transpiler>;
}

interface ScannedFile {
  readonly hash: string;
  readonly found: readonly (Scanned & { readonly target?: Located })[];
}

function scanModule(file: string, root: string, shared: Shared): ModuleScan {
  const problems: ImportProblem[] = [];
  const hashes = new Map<string, string>();
  const waiting = [file];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (hashes.has(next)) continue;
    const shown = relative(root, next);
    if (shared.budget === 0) {
      const text = `is not looked at: all modules together have more than ${MOST_FILES} files`;
      problems.push({ type: 'limit', file: shown, text, isOptional: true });
      break;
    }
    shared.budget -= 1;
    const scanned = scanFile(next, root, shared);
    if (scanned === undefined) {
      problems.push({ type: 'syntax', file: shown, text: 'it cannot be read', isOptional: false });
      continue;
    }
    hashes.set(next, scanned.hash);
    for (const found of scanned.found) {
      if (found.type === 'syntax') {
        problems.push({ type: 'syntax', file: `${shown}${found.at}`, text: found.message, isOptional: false });
        continue;
      }
      const { target = 'elsewhere' } = found;
      if (target === 'elsewhere') continue;
      if (target !== 'missing') waiting.push(target.file);
      else problems.push({ type: 'missing', file: shown, text: found.specifier, isOptional: found.isOptional });
    }
  }
  const hashed = [...hashes].map(([path, hash]) => `${relative(root, path)} ${hash}`).toSorted();
  return { digest: sha256(hashed.join('\n')), problems };
}

/** Reads a file once, however many modules import it. `undefined` when it cannot be read. */
function scanFile(file: string, root: string, { files, transpilers }: Shared): ScannedFile | undefined {
  const key = `${root}\0${file}`;
  const known = files.get(key);
  if (known !== undefined || files.has(key)) return known;
  const code = readCode(file);
  const loader = moduleLoaders[extname(file)];
  const found =
    loader === undefined || code === undefined || typeof code === 'string'
      ? []
      : scanCode(code, transpilerOf(loader, transpilers));
  const scanned =
    code === undefined ? undefined : { hash: sha256(code), found: found.map((each) => withTarget(each, file, root)) };
  files.set(key, scanned);
  return scanned;
}

function transpilerOf(loader: Loader, transpilers: Shared['transpilers']): Bun.Transpiler {
  // Type-only imports are removed when the module runs, so they are left out here, too.
  const transpiler = transpilers.get(loader) ?? new Bun.Transpiler({ loader, trimUnusedImports: true });
  transpilers.set(loader, transpiler);
  return transpiler;
}

function withTarget(found: Scanned, file: string, root: string): ScannedFile['found'][number] {
  return found.type === 'syntax' ? found : { ...found, target: locate(found.specifier, file, root) };
}

/** Returns the code of a file. For a file larger than `MOST_BYTES`, returns its size and date instead. */
function readCode(file: string): Buffer | string | undefined {
  try {
    const { size, mtimeMs } = statSync(file);
    return size > MOST_BYTES ? `${size} ${mtimeMs}` : readFileSync(file);
  } catch {
    return undefined;
  }
}

type Scanned =
  | { readonly type: 'import'; readonly specifier: string; readonly isOptional: boolean }
  | { readonly type: 'syntax'; readonly message: string; readonly at: string };

function scanCode(code: Buffer, transpiler: Bun.Transpiler): Scanned[] {
  try {
    const imports = transpiler.scanImports(code);
    return imports.map(({ path, kind }) => ({
      type: 'import',
      specifier: path,
      isOptional: kind !== 'import-statement',
    }));
  } catch (error) {
    const first: unknown = error instanceof AggregateError ? (error.errors[0] ?? error) : error;
    const position = readField(first, 'position');
    const [line, column] = [readField(position, 'line'), readField(position, 'column')];
    const at = typeof line === 'number' && typeof column === 'number' ? `:${line}:${column}` : '';
    return [{ type: 'syntax', message: String(readField(first, 'message')), at }];
  }
}

type Located = { readonly file: string } | 'missing' | 'elsewhere';

/** Finds the file of an import, if it is in the folder. */
function locate(specifier: string, from: string, root: string): Located {
  if (specifier.startsWith('.')) return locateFile(join(dirname(from), specifier), root);
  // An absolute path, an import of its own `package.json`, or something other than a file.
  if (/^(?:\/|#|node:|bun:|data:|file:)/.test(specifier) || isBuiltin(specifier)) return 'elsewhere';
  const [name = ''] = /^(?:@[^/]+\/)?[^/]+/.exec(specifier) ?? [];
  if (providedPackages.includes(name) || findPackage(dirname(from), name) !== undefined) return 'elsewhere';
  return isAliased(specifier, name, dirname(from)) ? 'elsewhere' : 'missing';
}

const endings = [
  '',
  ...Object.keys(moduleLoaders),
  '.json',
  ...Object.keys(moduleLoaders).map((end) => `/index${end}`),
];

function locateFile(path: string, root: string): Located {
  // TypeScript allows importing a file by the name of its compiled form.
  const asSource = path.replace(/\.(c|m)?js(x?)$/, '.$1ts$2');
  for (const candidate of [...endings.map((ending) => path + ending), asSource]) {
    const file = realFile(candidate);
    if (file !== undefined) return relative(root, file).split(sep)[0] === '..' ? 'elsewhere' : { file };
  }
  return 'missing';
}

function realFile(path: string): string | undefined {
  try {
    return statSync(path).isFile() ? realpathSync(path) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns true if a `tsconfig.json` above the module may define this import, or if it is the package's own name. Such
 * imports are not checked.
 */
function isAliased(specifier: string, name: string, from: string): boolean {
  for (let folder = from; ; folder = dirname(folder)) {
    if (explains(readSmall(join(folder, 'tsconfig.json')), specifier)) return true;
    if (readName(join(folder, 'package.json')) === name) return true;
    if (dirname(folder) === folder) return false;
  }
}

/**
 * With a `baseUrl`, any import may be defined; otherwise one of the `paths` must match. The file is JSON with comments,
 * so it is searched instead of parsed.
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
  try {
    return JSON.parse(readSmall(path) || '{}').name;
  } catch {
    return undefined;
  }
}

/** Reads a file. Returns '' when it does not exist or is too large. */
function readSmall(path: string): string {
  const file = realFile(path);
  return file === undefined || statSync(file).size > MOST_BYTES ? '' : readFileSync(file, 'utf8');
}
