/**
 * `npm run build`: the programs that child processes run, each bundled once into `packages/runtime/dist`, with the
 * bytecode Bun would else make at every start. Third-party packages stay outside and are loaded when they are needed.
 *
 * The same sources and the same Bun give the same bytes: `build-runners.test.ts` compares.
 */
import { readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const runtime = join(import.meta.dir, '..', 'packages', 'runtime');

/** Name in `dist` → source. */
const runners: Readonly<Record<string, string>> = {
  'agent-runner.js': 'src/agent/main.ts',
  'connector-runner.js': 'src/connector/main.ts',
};

export const distFolder = join(runtime, 'dist');

if (import.meta.main) await rebuild(distFolder);

/** Replaces what is there only when all of it was built. */
async function rebuild(folder: string): Promise<void> {
  const fresh = join(runtime, `.dist-${process.pid}`);
  try {
    await buildRunners(fresh);
    rmSync(folder, { recursive: true, force: true });
    renameSync(fresh, folder);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  console.log(`packages/runtime/dist: ${readdirSync(folder).toSorted().join(', ')}`);
}

export async function buildRunners(folder: string): Promise<void> {
  const { dependencies } = await Bun.file(join(runtime, 'package.json')).json();
  // Our own packages go in: a child answers imports of them from its own copy.
  const external = Object.keys(dependencies).filter((name) => !name.startsWith('@goondan/'));
  for (const [name, source] of Object.entries(runners)) {
    await Bun.build({
      entrypoints: [join(runtime, source)],
      outdir: folder,
      naming: { entry: name },
      target: 'bun',
      // Bytecode is for this format alone.
      format: 'cjs',
      bytecode: true,
      minify: true,
      external,
    });
  }
}
