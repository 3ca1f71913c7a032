/**
 * Compiles the `src` of packages into their `lib`: JavaScript for Node 20, declarations and their maps. One run of the
 * compiler handles all packages. It reads the sources in the repository, where the packages find each other.
 */
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';

/** Compiles the files in the `src` of each package. `folders` are the folders of copied packages, in one folder. */
export async function compilePackages(repository: string, folders: readonly string[]): Promise<void> {
  const [first] = folders;
  if (first === undefined) return;
  // The compiler writes beside the folders, because files can be moved only on the same disk.
  const work = mkdtempSync(join(dirname(first), '.compile-'));
  try {
    const sources = folders.flatMap((folder) =>
      [...new Bun.Glob('src/**/*.ts').scanSync(folder)].map((path) => join(basename(folder), path)),
    );
    const config = join(work, 'tsconfig.json');
    writeFileSync(config, JSON.stringify(configFor(repository, sources, join(work, 'out'))));
    await runCompiler(repository, config);
    for (const folder of folders) takeOver(join(work, 'out', basename(folder), 'src'), folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function configFor(repository: string, sources: readonly string[], outDir: string) {
  const rootDir = join(repository, 'packages');
  return {
    extends: join(repository, 'tsconfig.json'),
    compilerOptions: {
      // Newer syntax is rewritten, because Node 20 does not know `using`.
      target: 'ES2024',
      noEmit: false,
      noEmitOnError: true,
      // Types are not checked here, because `npm run types` checks them, and a check would take longer than everything
      // else.
      noCheck: true,
      declaration: true,
      declarationMap: true,
      allowImportingTsExtensions: false,
      rewriteRelativeImportExtensions: true,
      typeRoots: [join(repository, 'node_modules/@types')],
      rootDir,
      outDir,
    },
    files: sources.map((source) => join(rootDir, source)),
    include: [],
  };
}

/**
 * Runs the compiler. Throws one error with all problems that the compiler finds. One thread takes half of the processor
 * time of several, because each of them would infer the same types.
 */
export async function runCompiler(repository: string, config: string): Promise<void> {
  const tsc = join(repository, 'node_modules/typescript/bin/tsc');
  const command = ['node', tsc, '--project', config, '--singleThreaded'];
  const child = Bun.spawn(command, { cwd: repository, stdout: 'pipe', stderr: 'inherit' });
  const [problems] = await Promise.all([child.stdout.text(), child.exited]);
  if (child.exitCode !== 0) throw new Error(`The packages do not compile:\n${problems}`);
}

/** Moves the compiled files into `lib`, and adapts declarations and source maps. */
function takeOver(compiled: string, folder: string): void {
  const lib = join(folder, 'lib');
  renameSync(compiled, lib);
  for (const path of new Bun.Glob('**/*.d.ts{,.map}').scanSync(lib)) {
    const text = readFileSync(join(lib, path), 'utf8');
    const adapted = path.endsWith('.map') ? fitMap(text, path) : fitNames(text);
    if (adapted !== text) writeFileSync(join(lib, path), adapted);
  }
}

/** Points the map of `lib/a/b.d.ts` at `src/a/b.ts`. */
function fitMap(text: string, path: string): string {
  const source = join('src', path.replace(/\.d\.ts\.map$/, '.ts'));
  return JSON.stringify({ ...JSON.parse(text), sources: [relative(join('lib', dirname(path)), source)] });
}

/**
 * Replaces the file extension in relative imports of declarations, because the compiler does this only in JavaScript.
 * Comments stay unchanged.
 */
function fitNames(text: string): string {
  return text.replaceAll(/^(?! *(?:\/?\*|\/\/)).*$/gm, (line) =>
    line.replaceAll(/(\b(?:from |import |import\())(["'])(\.[^"']*)\.ts\2/g, '$1$2$3.js$2'),
  );
}
