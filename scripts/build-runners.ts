/**
 * Bundles the programs of child processes into `packages/runtime/dist`, and parses the YAML of the base library for
 * `known-yaml.ts`.
 *
 * The start of a process is made fast and small here (`bench/spawn.ts` measures it):
 * 1. Code that a start does not need is in separate files, loaded on demand: every `import()` in the sources starts a
 *    separate file.
 * 2. Each file has the bytecode that Bun would otherwise make at every start (`compile-parts.ts`).
 * 3. Third-party packages are bundled. Their licences are in a file next to the programs.
 *
 * The same sources and the same Bun give the same bytes, which `build-runners.process.test.ts` checks. The current
 * folder must be the repository, because file names depend on it.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { readYaml } from '../packages/runtime/src/config/bundle/yaml/read-yaml.ts';
import { sha256 } from '../packages/runtime/src/json/sha256.ts';
import { compileParts } from './compile-parts.ts';
import { compiledName } from './compiled-name.ts';
import { bundleProviderPackages } from './provider-packages.ts';
import { readLicenses } from './read-licenses.ts';

const repository = join(import.meta.dir, '..');
const runtime = join(repository, 'packages', 'runtime');
const baseLibrary = join(repository, 'packages', 'base');

/** The name of each program in `dist`, and its source. */
const runners: Readonly<Record<string, string>> = {
  'agent-runner': 'src/agent/main.ts',
  'connector-runner': 'src/connector/main.ts',
  'keeper-runner': 'src/keeper/main.ts',
  'guardian-runner': 'src/orchestrator/guardian/main.ts',
};

const [, , given = join(runtime, 'dist')] = process.argv;
await rebuild(given);

/** Builds into a new folder, and replaces the old programs only after a complete build. */
async function rebuild(folder: string): Promise<void> {
  const fresh = `${folder}.${process.pid}`;
  try {
    await buildRunners(fresh);
    writeFileSync(join(fresh, 'known-yaml.json'), JSON.stringify(parseBaseLibrary()));
    rmSync(folder, { recursive: true, force: true });
    renameSync(fresh, folder);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  console.log(`${readdirSync(folder).length} files`);
}

async function buildRunners(folder: string): Promise<void> {
  const modules = join(folder, 'modules');
  mkdirSync(folder, { recursive: true });
  const sources: string[] = [];
  for (const [name, source] of Object.entries(runners)) {
    sources.push(...(await splitModules(name, join(runtime, source), modules)));
    await compileParts({ modules, folder, minify: true });
  }
  sources.push(...(await bundleProviderPackages(runtime, folder)));
  const paths = sources.map((path) => relative(repository, path));
  writeFileSync(join(folder, 'licenses.txt'), readLicenses(repository, paths));
}

/** Builds the program and its parts as ES modules. Returns the paths of their sources. */
async function splitModules(name: string, source: string, folder: string): Promise<string[]> {
  const { metafile } = await Bun.build({
    entrypoints: [source],
    outdir: folder,
    target: 'bun',
    format: 'esm',
    splitting: true,
    naming: { entry: `${name}.[ext]`, chunk: `${name}-[hash].[ext]` },
    metafile: true,
  });
  return Object.keys(metafile?.inputs ?? {});
}

/** Returns the values of each YAML file by the hash of its text, as it is here and as it is in a tarball. */
function parseBaseLibrary(): Record<string, unknown[]> {
  const names = readdirSync(baseLibrary).filter((name) => name.endsWith('.yaml'));
  const texts = names.toSorted().map((name) => readFileSync(join(baseLibrary, name), 'utf8'));
  return Object.fromEntries(
    [...texts, ...texts.map(compiledName)].map((text) => {
      const { documents, findings } = readYaml(text, '');
      if (findings.length > 0) throw new Error(`The base library has a fault: ${JSON.stringify(findings)}`);
      return [sha256(text), documents.map(({ value }) => value)];
    }),
  );
}
