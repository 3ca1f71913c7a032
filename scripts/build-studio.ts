/**
 * Bundles the page of `gdn studio` into `packages/cli/dist/studio`: one HTML file and its parts, so that users of the
 * CLI need neither React nor a bundler, and the licences of its packages. The same sources and the same Bun give the
 * same bytes.
 */
import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { readLicenses } from './read-licenses.ts';

const repository = join(import.meta.dir, '..');
const [, , folder = join(repository, 'packages/cli/dist/studio')] = process.argv;
const fresh = `${folder}.${process.pid}`;

try {
  const { metafile } = await Bun.build({
    entrypoints: [join(repository, 'packages/studio/src/index.html')],
    outdir: fresh,
    minify: true,
    metafile: true,
    target: 'browser',
    define: { 'process.env.NODE_ENV': '"production"' },
    // Makes paths relative to this folder, so that the output does not depend on where the repository is.
    root: join(repository, 'packages/studio/src'),
  });
  const sources = Object.keys(metafile?.inputs ?? {}).map((path) => relative(repository, path));
  writeFileSync(join(fresh, 'licenses.txt'), readLicenses(repository, sources));
  rmSync(folder, { recursive: true, force: true });
  renameSync(fresh, folder);
} finally {
  rmSync(fresh, { recursive: true, force: true });
}
console.log(`${readdirSync(folder).length} files of the page`);
