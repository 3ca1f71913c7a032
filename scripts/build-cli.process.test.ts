import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findOwnSource } from './build-cli.ts';
import { sampleStep } from '../test/samples.ts';
import { sampleBundle } from '../packages/cli/src/testing/sample-bundle.ts';

const repository = join(import.meta.dir, '..');
const dist = join(repository, 'packages/cli/dist/gdn');
const temporary = mkdtempSync(join(tmpdir(), 'build-cli-'));
const fresh = join(temporary, 'gdn');

beforeAll(() => {
  // Only `npm run proof` makes the bytecode again: it takes most of the time, and it comes from the code of each file.
  const flags = sampleStep === 1 ? [] : ['--no-bytecode'];
  const build = [process.execPath, join(import.meta.dir, 'build-cli.ts'), fresh, ...flags];
  expect(Bun.spawnSync(build, { cwd: repository }).stderr.toString()).toBe('');
});
afterAll(() => rmSync(temporary, { recursive: true }));

test('the bundle matches the sources', () => {
  const stale = readdirSync(fresh).filter((name) => {
    const built = join(dist, name);
    return !existsSync(built) || !readUnmarked(built).equals(readUnmarked(join(fresh, name)));
  });
  const isKnown = (name: string) => existsSync(join(fresh, name.replace(/\.jsc$/, '')));
  const unknown = existsSync(dist) ? readdirSync(dist).filter((name) => !isKnown(name)) : [];
  expect([...stale, ...unknown], 'packages/cli/dist/gdn is missing or stale: run `npm run build`').toEqual([]);
});

test('lists its sources at the time when the build began: one saved during the build is newer', () => {
  const listed = statSync(join(fresh, 'sources.json')).mtimeMs;
  const bundled = readdirSync(fresh).filter((name) => name.endsWith('.js'));
  expect(bundled.filter((name) => statSync(join(fresh, name)).mtimeMs <= listed)).toEqual([]);
});

test('every file of it has its bytecode', () => {
  const bundled = readdirSync(dist).filter((name) => name.endsWith('.js'));
  expect(bundled).toContain('main.js');
  expect(bundled.filter((name) => !existsSync(join(dist, `${name}.jsc`)))).toEqual([]);
});

test('treats packages below the repository as its own, wherever the repository is', () => {
  const root = '/old/packages/web/src/goondan';
  const own = findOwnSource(root, `${root}/packages/cli/src/run/detach.ts`);
  expect(own).toEqual({ name: 'cli', source: 'src/run/detach.ts' });
  expect(findOwnSource(root, `${root}/node_modules/yaml/dist/index.js`)).toBeUndefined();
  expect(findOwnSource(root, `${root}/node_modules/x/packages/y/src/index.js`)).toBeUndefined();
});

test('contains no path of the build machine', () => {
  for (const name of readdirSync(fresh)) expect(readFileSync(join(fresh, name), 'utf8')).not.toContain(repository);
});

test('has the licence of every bundled package', () => {
  const licenses = readFileSync(join(fresh, 'licenses.txt'), 'utf8').split('\n');
  for (const name of ['commander', 'yaml', 'zod', '@modelcontextprotocol/client']) expect(licenses).toContain(name);
});

test('`gdn --help` loads the commands and their errors only', async () => {
  const loaded = await loadedBy('--help');
  expect(loaded).toContain('packages/cli/src/commands/status.ts');
  expect(loaded.filter((path) => /packages\/(runtime|base)\/|node_modules\/(?!commander\/)/.test(path))).toEqual([]);
});

test('commands for a running swarm load no YAML, no zod and nothing that reads a bundle or runs a swarm; `gdn validate` loads what it needs', async () => {
  await Bun.write(join(temporary, 'bundle/goondan.yaml'), sampleBundle());
  const forbidden =
    /node_modules\/(yaml|zod|ajv)\/|runtime\/src\/(agent|orchestrator|start-swarm|define-swarm|config\/bundle)/;
  expect(await gdn([], 'run', 'bundle', '--trust', '--detach')).toBe(0);
  try {
    const running = await loadedBy('status', '--bundle', 'bundle');
    expect(running).toContain('packages/cli/src/swarm/describe-status.ts');
    // The main entry point of the runtime is loaded, but only the modules that `connectSwarm` needs.
    expect(running.filter((path) => forbidden.test(path))).toEqual([]);
    // The client needs the shapes of answers in `ipc/check`, but no table of frames and no check of a schema.
    expect(running.filter((path) => /runtime\/src\/(ipc\/(from|to)-|json\/read-demand)/.test(path))).toEqual([]);
    expect(running.length).toBeLessThan(158);
    for (const [command, ...args] of [['send', '--input', 'Hello'], ['approve'], ['logs']] as const) {
      const loaded = await loadedBy(command, '--bundle', 'bundle', ...args);
      expect(loaded.filter((path) => forbidden.test(path))).toEqual([]);
    }
  } finally {
    expect(await gdn([], 'stop', '--bundle', 'bundle')).toBe(0);
  }
  // A swarm that has run before is found without reading its bundle. The store is read for the inputs that wait.
  const stopped = await loadedBy('status', '--bundle', 'bundle');
  expect(stopped).toContain('packages/cli/src/swarm/left-work.ts');
  expect(stopped.filter((path) => forbidden.test(path))).toEqual([]);
  const validate = await loadedBy('validate', 'bundle');
  expect(validate.filter((path) => /node_modules\/(yaml|zod)\//.test(path))).not.toEqual([]);
});

/** Reads a file without the word in its first line that says that it has bytecode. */
function readUnmarked(path: string): Buffer {
  const mark = '// @bun @bytecode ';
  const bytes = readFileSync(path);
  const isMarked = bytes.subarray(0, mark.length).equals(Buffer.from(mark));
  return isMarked ? Buffer.concat([Buffer.from('// @bun '), bytes.subarray(mark.length)]) : bytes;
}

/** Lists the sources in the files of the bundle that a command loads. */
async function loadedBy(...args: string[]): Promise<string[]> {
  const list = join(temporary, `${args[0]}.txt`);
  const preload = join(temporary, `${args[0]}.ts`);
  await Bun.write(
    preload,
    `import { writeFileSync } from 'node:fs';
    // Nothing but a terminal needs the streams of Node, which take longer to load than all parts of \`gdn --help\`.
    for (const name of ['stdin', 'stdout', 'stderr']) {
      Object.defineProperty(process, name, { get: () => process.exit(99) });
    }
    process.on('exit', () => writeFileSync(${JSON.stringify(list)}, Object.keys(require.cache).join('\\n')));`,
  );
  expect(await gdn(['--preload', preload], ...args)).toBe(0);
  const sources: Record<string, string[]> = await Bun.file(join(dist, 'sources.json')).json();
  const files = readFileSync(list, 'utf8').split('\n');
  return files.flatMap((path) => sources[path.slice(dist.length + 1)] ?? []);
}

function gdn(flags: readonly string[], ...args: string[]): Promise<number> {
  const env = { ...process.env, GOONDAN_STATE_ROOT: join(temporary, 'state') };
  const command = [process.execPath, ...flags, join(dist, 'main.js'), temporary, ...args];
  return Bun.spawn(command, { env, stdout: 'ignore' }).exited;
}
