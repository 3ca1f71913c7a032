/**
 * The programs that child processes run, bundled once into `packages/runtime/dist`.
 *
 * How a process starts fast and small is decided here (`bench/spawn.ts` measures it):
 * 1. What a start does not need is in files of its own, loaded when it is needed: every `import()` in the sources is a
 *    border. Third-party packages stay outside.
 * 2. Each file comes with the bytecode that Bun would else make at every start. Bun writes that for CommonJS only and
 *    splits only ES modules, so this takes two passes.
 *
 * The same sources and the same Bun give the same bytes, as long as the current folder is the repository's: names of
 * files depend on it. `build-runners.process.test.ts` compares.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const runtime = join(import.meta.dir, '..', 'packages', 'runtime');

/** Name in `dist` → source. */
const runners: Readonly<Record<string, string>> = {
  'agent-runner': 'src/agent/main.ts',
  'connector-runner': 'src/connector/main.ts',
};

const importOfPart = /\bimport\(("\.\/[^"]+")\)/g;

const [, , given = join(runtime, 'dist')] = process.argv;
await rebuild(given);

/** Replaces what is there only when all of it was built. */
async function rebuild(folder: string): Promise<void> {
  const fresh = `${folder}.${process.pid}`;
  try {
    await buildRunners(fresh);
    rmSync(folder, { recursive: true, force: true });
    renameSync(fresh, folder);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  console.log(`${readdirSync(folder).length} files`);
}

async function buildRunners(folder: string): Promise<void> {
  const { dependencies } = await Bun.file(join(runtime, 'package.json')).json();
  // Our own packages go in: a child answers imports of them from its own copy.
  const external = Object.keys(dependencies).filter((name) => !name.startsWith('@goondan/'));
  const modules = join(folder, 'modules');
  mkdirSync(folder, { recursive: true });
  for (const [name, source] of Object.entries(runners)) {
    await splitModules(name, join(runtime, source), external, modules);
    for (const file of readdirSync(modules)) await compile(join(modules, file), external, folder);
    rmSync(modules, { recursive: true });
  }
}

/** The program and its parts, as ES modules. */
async function splitModules(name: string, source: string, external: string[], folder: string): Promise<void> {
  await Bun.build({
    entrypoints: [source],
    outdir: folder,
    target: 'bun',
    format: 'esm',
    splitting: true,
    naming: { entry: `${name}.[ext]`, chunk: `${name}-[hash].[ext]` },
    external,
  });
}

/** One of those files, as CommonJS with bytecode beside it. */
async function compile(file: string, external: string[], folder: string): Promise<void> {
  await Bun.build({
    entrypoints: [file],
    outdir: folder,
    target: 'bun',
    format: 'cjs',
    bytecode: true,
    minify: true,
    external,
    plugins: [{ name: 'parts', setup: keepParts }],
  });
}

/** The parts stay files of their own. They are required: Bun starts two threads to import one. */
function keepParts(build: Bun.PluginBuilder): void {
  build.onLoad({ filter: /\.js$/ }, ({ path }) => ({
    contents: readFileSync(path, 'utf8').replaceAll(importOfPart, '(async () => require($1))()'),
    loader: 'js',
  }));
  build.onResolve({ filter: /^\.\// }, ({ path }) => ({ path, external: true }));
}
