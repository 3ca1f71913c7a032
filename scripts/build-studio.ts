/**
 * Bundles the page of `gdn studio` into `packages/cli/dist/studio`: one HTML file and its parts, so that users of the
 * CLI need neither React nor a bundler. The same sources and the same Bun give the same bytes.
 */
import { readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const repository = join(import.meta.dir, '..');
const [, , folder = join(repository, 'packages/cli/dist/studio')] = process.argv;
const fresh = `${folder}.${process.pid}`;

try {
  await Bun.build({
    entrypoints: [join(repository, 'packages/studio/src/index.html')],
    outdir: fresh,
    minify: true,
    target: 'browser',
    define: { 'process.env.NODE_ENV': '"production"' },
    // Makes paths relative to this folder, so that the output does not depend on where the repository is.
    root: join(repository, 'packages/studio/src'),
  });
  rmSync(folder, { recursive: true, force: true });
  renameSync(fresh, folder);
} finally {
  rmSync(fresh, { recursive: true, force: true });
}
console.log(`${readdirSync(folder).length} files of the page`);
