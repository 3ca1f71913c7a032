/**
 * The packages that call models run in Bun, and say that they need Node 22. So that npm installs nothing that does not fit
 * the user's Node, they are bundled into `packages/runtime/dist`. Agents have their own copy (`build-runners.ts`).
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const imports = /\bimport\(['"](@ai-sdk\/[\w/-]+)['"]\)/g;

/** Bundles the packages that the sources of the runtime import. Returns the paths of the bundled files. */
export async function bundleProviderPackages(runtime: string, folder: string): Promise<string[]> {
  const table = readFileSync(join(runtime, 'src/agent/model/providers/provider-table.ts'), 'utf8');
  const names = new Set([...table.matchAll(imports)].map(([, name = '']) => name));
  const entries = join(folder, 'entries');
  mkdirSync(entries);
  for (const name of names) {
    writeFileSync(join(entries, fileOf(name)), `export * from ${JSON.stringify(Bun.resolveSync(name, runtime))};`);
  }
  const { metafile } = await Bun.build({
    entrypoints: [...names].map((name) => join(entries, fileOf(name))),
    outdir: folder,
    target: 'node',
    format: 'esm',
    splitting: true,
    naming: { entry: '[name].[ext]', chunk: 'provider-[hash].[ext]' },
    minify: true,
    external: ['zod'],
    metafile: true,
  });
  rmSync(entries, { recursive: true });
  return Object.keys(metafile?.inputs ?? {});
}

/** Replaces the imports of the packages in a text by imports of their bundles. `place`: the path of a file of `dist`, as code. */
export function inBundledPackages(text: string, place: (file: string) => string): string {
  return text.replaceAll(imports, (_, name: string) => `import(${place(fileOf(name))})`);
}

/** Returns `provider-anthropic-internal.js` for `@ai-sdk/anthropic/internal`. */
function fileOf(name: string): string {
  return `${name.replace('@ai-sdk', 'provider').replaceAll('/', '-')}.js`;
}
