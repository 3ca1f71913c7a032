/**
 * Compiles the ES modules of a split build to CommonJS, each with the bytecode that Bun would otherwise make at every
 * start. Bun splits only ES modules, and writes bytecode without an executable only for CommonJS, so a program takes
 * two builds.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Parts {
  /** The folder of the modules. It is removed afterwards. */
  readonly modules: string;
  /** The folder of the compiled parts. */
  readonly folder: string;
  readonly minify: NonNullable<Bun.BuildConfig['minify']>;
  /** False for a test that only compares the code. */
  readonly bytecode?: boolean;
}

export async function compileParts({ modules, folder, minify, bytecode = true }: Parts): Promise<void> {
  const files = readdirSync(modules);
  // Bun compiles an import differently if a package says that its files are modules. So the folder of the build would
  // decide.
  writeFileSync(join(modules, 'package.json'), '{"type":"module"}');
  for (const file of files) {
    await Bun.build({
      entrypoints: [join(modules, file)],
      outdir: folder,
      target: 'bun',
      format: 'cjs',
      bytecode,
      minify,
      plugins: [{ name: 'parts', setup: keepParts }],
    });
  }
  rmSync(modules, { recursive: true });
}

const importOfPart = /\bimport\(("\.\/[^"]+")\)/g;
const askedOfModule = /\bimport\.meta\.(main|require)\b/g;
const inCommonJs = { main: '(require.main === module)', require: 'require' };

/**
 * Keeps the parts in separate files. They are loaded with `require`, because Bun starts two threads for an `import()`.
 * What a module knows of itself has another name in CommonJS.
 */
function keepParts(build: Bun.PluginBuilder): void {
  build.onLoad({ filter: /\.js$/ }, ({ path }) => ({
    contents: readFileSync(path, 'utf8')
      .replaceAll(importOfPart, '(async () => require($1))()')
      .replaceAll(askedOfModule, (_, what: keyof typeof inCommonJs) => inCommonJs[what]),
    loader: 'js',
  }));
  build.onResolve({ filter: /^\.\// }, ({ path }) => ({ path, external: true }));
}
