/**
 * Bundles the programs of `gdn` into `packages/cli/dist/gdn`, so that it starts fast. Every `import()` in the sources
 * starts a separate file, and a command loads only the files it needs. Each file has its bytecode (`compile-parts.ts`).
 *
 * 1. Code of our packages that asks for its own folder gets the folder of its source. The packages of model providers are
 *    loaded from the runtime, which ships them (`provider-packages.ts`).
 * 2. `sources.json` lists the sources and the time when the build began. If a source is newer than that, `run-newest.cjs`
 *    runs the sources instead of the bundle. The file is not packed, so an installed `gdn` compares nothing.
 * 3. The licences of the bundled packages are in a file next to the bundle.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { compileParts } from './compile-parts.ts';
import { inBundledPackages } from './provider-packages.ts';
import { readLicenses } from './read-licenses.ts';

const repository = join(import.meta.dir, '..');
const cli = join(repository, 'packages', 'cli');

// Names are not minified, so that error stacks stay readable.
const minify = { whitespace: true, syntax: true };

const askedFolder = /\bimport\.meta\.(dir|url)\b|\b__dirname\b/g;

/** Commander's import that takes time at every start, although `gdn` does not use it, and what takes its place. */
const heavy = "const childProcess = require('node:child_process');";
const lighter = "const childProcess = { get spawn() { return require('node:child_process').spawn; } };";

const [, , given = join(cli, 'dist', 'gdn'), flag] = process.argv;
if (import.meta.main) await rebuild(given);

/** Builds into a new folder, and replaces the old bundle only after a complete build. */
async function rebuild(folder: string): Promise<void> {
  const fresh = `${folder}.${process.pid}`;
  try {
    mkdirSync(fresh, { recursive: true });
    const list = join(fresh, 'sources.json');
    // This file gets its time from the disk's own clock. A source that is saved after this moment is newer than the
    // bundle.
    writeFileSync(list, '');
    const { mtime: began } = statSync(list);
    const sources = await bundle(fresh);
    writeFileSync(join(fresh, 'licenses.txt'), readLicenses(repository, Object.values(sources).flat()));
    writeFileSync(list, `${JSON.stringify(sources, null, 1)}\n`);
    utimesSync(list, began, began);
    rmSync(folder, { recursive: true, force: true });
    renameSync(fresh, folder);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  console.log(`${readdirSync(folder).length} files`);
}

/** Returns the paths of the sources, in the repository, of each file of the bundle. */
async function bundle(folder: string): Promise<Record<string, string[]>> {
  const modules = join(folder, 'modules');
  const { metafile } = await Bun.build({
    entrypoints: [join(cli, 'src/main.ts'), join(cli, 'src/run/detached-main.ts')],
    outdir: modules,
    target: 'bun',
    format: 'esm',
    splitting: true,
    naming: { entry: '[name].[ext]', chunk: 'gdn-[hash].[ext]' },
    minify,
    metafile: true,
    plugins: [
      { name: 'own folders', setup: keepFolders },
      { name: 'light commander', setup: lightenCommander },
    ],
  });
  await compileParts({ modules, folder, minify, bytecode: flag !== '--no-bytecode' });
  const outputs = Object.entries(metafile?.outputs ?? {});
  return Object.fromEntries(
    outputs.map(([path, { inputs }]) => [
      basename(path),
      Object.keys(inputs).map((input) => relative(repository, input)),
    ]),
  );
}

function keepFolders(build: Bun.PluginBuilder): void {
  build.onLoad({ filter: /\/packages\/\w+\/(src|bin)\/.*\.c?[jt]s$/ }, ({ path }) => {
    const own = findOwnSource(repository, path);
    // Bun loads the code of other packages unchanged.
    if (own === undefined) return undefined;
    const { name, source } = own;
    // All files of the bundle are in the folder of the program. In CommonJS, Bun would write the folder of the build.
    const here = `Bun.resolveSync("@goondan/${name}/package.json", Bun.main)`;
    const folder = `${here}.replace(/package\\.json$/, ${JSON.stringify(dirname(source))})`;
    const text = inBundledPackages(
      readFileSync(path, 'utf8'),
      (file) => `${here}.replace(/package\\.json$/, "dist/${file}")`,
    );
    const contents = text.replaceAll(askedFolder, (_, what) =>
      what === 'url' ? `Bun.pathToFileURL(${folder} + "/x.ts").href` : folder,
    );
    return { contents, loader: path.endsWith('.cjs') ? 'js' : 'ts' };
  });
}

function lightenCommander(build: Bun.PluginBuilder): void {
  build.onLoad({ filter: /\/node_modules\/commander\/lib\/command\.js$/ }, ({ path }) => ({
    contents: readFileSync(path, 'utf8').replace(heavy, lighter),
    loader: 'js',
  }));
}

/**
 * Returns the name of the Goondan package that contains a source, and the path of the source in that package. The
 * repository itself may be in a folder with a similar name.
 */
export function findOwnSource(root: string, path: string): { name: string; source: string } | undefined {
  const [, name, source] = /^packages\/(\w+)\/((?:src|bin)\/.*)$/.exec(relative(root, path)) ?? [];
  return name === undefined || source === undefined ? undefined : { name, source };
}
