// type-checks the sources that a Node program loads against the library of Node 20, without Bun's types.
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { runCompiler } from '../scripts/compile-packages.ts';
import { repository } from './read-repository.ts';
import { sampleStep } from './samples.ts';

// This timeout is long, because the compiler takes a few seconds and the machine may be busy.
setDefaultTimeout(120_000);

const sources = join(repository, 'packages/runtime/src');
const doors = ['index.ts', 'bundle.ts', 'control.ts', 'history.ts', 'testing/index.ts'].map((door) =>
  join(sources, door),
);

/** Files that check for Bun before they use its API. */
const askingFirst = [
  'config/bundle/files/scan-module.ts',
  'control/fetch-unix.ts',
  'json/sha256.ts',
  'ports/is-bun.ts',
  'workspace/lines/checksum.ts',
];

/** Files that are imported with `import()`, and only after `isBun` or `requireBun`. */
const forBun = /^(orchestrator|agent)\/|^start-here\.ts$/;

const folder = mkdtempSync(join(tmpdir(), 'goondan-node-sources-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('code that Node loads uses no global of Bun and nothing newer than Node 20', async () => {
  const config = join(folder, 'tsconfig.json');
  const library = {
    lib: ['ES2023', 'ES2024.String'],
    types: ['node'],
    typeRoots: [join(repository, 'node_modules/@types')],
  };
  const options = { extends: join(repository, 'tsconfig.json'), compilerOptions: library, files: doors, include: [] };
  await Bun.write(config, JSON.stringify(options));
  const problems = await (sampleStep === 1 ? findWithCompiler(config) : findWithBun(config));
  const loaded = new Set(listLoaded().map((file) => relative(repository, file)));
  expect(loaded).toContain('packages/runtime/src/ipc/bun-beside.ts');
  const found = problems.split('\n').filter((line) => loaded.has(line.replace(/\(.*/, '')));
  const own = (line: string) => relative('packages/runtime/src', line.replace(/\(.*/, ''));
  expect(found.filter((line) => !askingFirst.includes(own(line)))).toEqual([]);
  expect([...new Set(found.map(own))].toSorted()).toEqual(askingFirst);
});

function findWithCompiler(config: string): Promise<string> {
  return runCompiler(repository, config).then(
    () => '',
    (error: unknown) => String(error),
  );
}

/** Finds the same problems as the compiler, in a quarter of its time. */
function findWithBun(config: string): Promise<string> {
  const command = [process.execPath, 'check', '--no-script', '--no-pretty', '--all', '--project', config];
  return Bun.spawn(command, { cwd: repository, stdout: 'pipe', stderr: 'ignore' }).stdout.text();
}

/** Lists the doors, and everything that they import in Node. */
function listLoaded(): readonly string[] {
  const transpiler = new Bun.Transpiler({ loader: 'ts', trimUnusedImports: true });
  const loaded = new Set(doors);
  // The loop also visits files that it adds to the set.
  for (const file of loaded) {
    if (!file.endsWith('.ts')) continue;
    for (const { path, kind } of transpiler.scanImports(readFileSync(file, 'utf8'))) {
      if (!path.startsWith('.')) continue;
      const target = join(dirname(file), path);
      const isLater = kind !== 'import-statement';
      if (!isLater || !forBun.test(relative(sources, target))) loaded.add(target);
    }
  }
  return [...loaded];
}
