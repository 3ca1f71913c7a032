// Tests with real processes: a copy of the launcher, started by Node, in a folder laid out like the installed package,
// with a small `main.ts` of its own.
import { expect, test } from 'bun:test';
import { errorCatalogue } from '@goondan/types';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../test/temporary-folder.ts';
import { until } from '../../../test/until.ts';

const launcherFolder = join(import.meta.dir, '..', 'bin');
const runtimeFolder = join(import.meta.dir, '..', '..', 'runtime');
const runtimeManifest: { readonly optionalDependencies: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync(join(runtimeFolder, 'package.json'), 'utf8'),
);
const temporary = temporaryFolder();

const mainSource = `
const [folder, mode, value] = process.argv.slice(2);
if (mode === 'exit') process.exit(Number(value));
if (mode === 'die') process.kill(process.pid, value);
if (mode === 'open') process.stdout.write(await Bun.file(value.replace(/^.*=/, '')).text());
if (mode === 'read') process.stdout.write(await Bun.stdin.text());
if (mode === 'wait') {
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2']) {
    process.on(signal, () => console.log('got', signal));
  }
  process.on('SIGTERM', () => process.exit(7));
  setInterval(() => {}, 1000);
  console.log('ready', process.pid);
}
if (mode === 'report') {
  const { preloaded } = globalThis;
  console.log(JSON.stringify({ folder, args: process.argv.slice(3), secret: process.env.SECRET, preloaded }));
}
`;

type Platform = [platform: string, arch: string];
type BunPlace = 'bun package' | 'platform package' | 'nowhere';

test('passes arguments on unchanged', async () => {
  const args = ['report', '--version', '-x', '', 'two words', '--', '$HOME', '한국어', '/dev/fd/99'];
  const place = await install('bun package');
  const { stdout, exitCode } = await runToEnd(place, args);
  expect(JSON.parse(stdout)).toEqual({ folder: place, args });
  expect(exitCode).toBe(0);
});

test('passes standard input on', async () => {
  const child = start(await install('bun package'), ['read']);
  await child.stdin.write('said to the launcher');
  await child.stdin.end();
  expect(await child.stdout.text()).toBe('said to the launcher');
});

test.each(['/dev/fd/9', '/proc/self/fd/9', '--schema=/dev/fd/9'])('passes on the open file %s', async (path) => {
  const launcher = join(await install('bun package'), 'bin', 'gdn.cjs');
  const script = `printf content | node '${launcher}' open ${path} 9<&0 </dev/null`;
  expect(await Bun.spawn(['sh', '-c', script]).stdout.text()).toBe('content');
});

test.each([0, 1, 4, 130])('ends with exit code %d when main does', async (code) => {
  const { exitCode, signalCode } = await runToEnd(await install('bun package'), ['exit', String(code)]);
  expect({ exitCode, signalCode }).toEqual({ exitCode: code, signalCode: null });
});

test.each(['SIGTERM', 'SIGKILL', 'SIGINT'])('dies by %s when main does', async (signal) => {
  const { signalCode } = await runToEnd(await install('bun package'), ['die', signal]);
  expect(signalCode).toBe(signal);
});

test('exits with 128 + the number for a signal that Node itself ignores', async () => {
  const place = await install('nowhere');
  // A shell script replaces Bun here, because Bun, like Node, ignores SIGPIPE.
  await plantBinary(place, '#!/bin/sh\nkill -s PIPE $$\n', 0o755);
  const { exitCode } = await runToEnd(place, []);
  expect(exitCode).toBe(128 + 13);
});

test('passes signals on when there is no terminal', async () => {
  const child = start(await install('bun package'), ['wait']);
  const lines = readLines(child.stdout);
  expect(await lines.next()).toStartWith('ready');
  for (const signal of ['SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGINT', 'SIGQUIT', 'SIGTERM'] as const) {
    child.kill(signal);
    expect(await lines.next()).toBe(`got ${signal}`);
  }
  expect(await child.exited).toBe(7);
});

test('leaves Ctrl-C to the terminal, so that main gets it once', async () => {
  let screen = '';
  const place = await install('bun package');
  const child = Bun.spawn(['node', join(place, 'bin', 'gdn.cjs'), 'wait'], {
    terminal: { data: (_, bytes) => void (screen += new TextDecoder().decode(bytes)) },
  });
  await until(() => screen.includes('ready'));
  child.terminal?.write('\x03');
  await until(() => screen.includes('got SIGINT'));
  // If a second SIGINT had been sent, it would arrive before this SIGTERM, because signals are passed on in order.
  child.kill('SIGTERM');
  expect(await child.exited).toBe(7);
  expect(screen.match(/got \w+/g)).toEqual(['got SIGINT', 'got SIGTERM']);
});

test('ends main when it is killed', async () => {
  const child = start(await install('bun package'), ['wait']);
  const lines = readLines(child.stdout);
  expect(await lines.next()).toStartWith('ready');
  child.kill('SIGKILL');
  // The main program holds the other end of this pipe, so the pipe closes when the program ends.
  expect(await lines.next()).toBe('');
});

test('nothing of the current folder decides what runs', async () => {
  const place = await install('bun package');
  const hostile = join(place, 'hostile');
  await Bun.write(join(hostile, 'preload.ts'), 'globalThis.preloaded = true;');
  await Bun.write(join(hostile, 'bunfig.toml'), 'preload = ["./preload.ts"]');
  await Bun.write(join(hostile, '.env'), 'SECRET=from-the-folder');
  const main = join(place, 'src', 'main.ts');
  const bare = () => Bun.spawn([process.execPath, main, hostile, 'report'], { cwd: hostile, stderr: 'pipe' });
  const expected = { folder: hostile, args: ['report'] };
  expect(await bare().stdout.json()).toEqual({ ...expected, secret: 'from-the-folder', preloaded: true });

  // Bun resolves the program to run by the paths of its current folder.
  await Bun.write(join(hostile, 'other.ts'), `console.log('"another program"');`);
  const paths = { '*': ['./other.ts'] };
  await Bun.write(join(hostile, 'tsconfig.json'), JSON.stringify({ compilerOptions: { paths } }));
  expect(await bare().stdout.json()).toBe('another program');
  await Bun.write(join(hostile, 'package.json'), '{ "nonsense');
  expect(await bare().stderr.text()).toContain('error: ');

  const { stdout, stderr } = await runToEnd(place, ['report'], hostile);
  expect(JSON.parse(stdout)).toEqual(expected);
  expect(stderr).toBe('');
});

test('nothing of the folder above decides it either, into which npm has installed it', async () => {
  const project = await install('bun package');
  const place = join(project, 'node_modules', 'cli');
  for (const name of ['bin', 'src']) cpSync(join(project, name), join(place, name), { recursive: true });
  await Bun.write(join(place, 'src', 'main.ts'), `import 'dependency';`);
  await Bun.write(join(project, 'node_modules', 'dependency', 'index.ts'), `console.log('the package');`);
  await Bun.write(join(project, 'other.ts'), `console.log('another module');`);
  const paths = { dependency: ['./other.ts'] };
  await Bun.write(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions: { paths } }));
  expect((await runToEnd(place, [])).stdout).toBe('the package\n');
});

test('runs the bundle, unless one of its listed sources is newer or gone', async () => {
  const place = await install('bun package');
  const cli = join(place, 'packages', 'cli');
  cpSync(join(place, 'bin'), join(cli, 'bin'), { recursive: true });
  await Bun.write(join(cli, 'src', 'main.ts'), `console.log('sources');`);
  await Bun.write(join(cli, 'dist', 'gdn', 'main.js'), `console.log('bundle');`);
  const said = async () => (await runToEnd(cli, [])).stdout.trimEnd();
  expect(await said()).toBe('bundle');
  const list = join(cli, 'dist', 'gdn', 'sources.json');
  await Bun.write(list, JSON.stringify({ 'main.js': ['packages/cli/src/main.ts'] }));
  const now = Date.now() / 1000;
  utimesSync(list, now, now);
  utimesSync(join(cli, 'src', 'main.ts'), now, now - 1);
  expect(await said()).toBe('bundle');
  utimesSync(join(cli, 'src', 'main.ts'), now, now + 1);
  expect(await said()).toBe('sources');
  await Bun.write(list, JSON.stringify({ 'main.js': ['packages/cli/src/gone.ts'] }));
  expect(await said()).toBe('sources');
});

test('finds Bun in the package of the platform', async () => {
  const { exitCode } = await runToEnd(await install('platform package'), ['exit', '5']);
  expect(exitCode).toBe(5);
});

test.skipIf(process.platform !== 'linux')('does not run the Bun for musl elsewhere', async () => {
  const place = await install('platform package');
  const [name = ''] = (await platformPackages([['linux', process.arch]])).flat();
  await Bun.write(join(place, 'node_modules', name, 'package.json'), '{}');
  await Bun.write(join(place, 'node_modules', name, 'bin', 'bun'), '#'.repeat(2 * 1024 * 1024));
  expect((await runToEnd(place, ['exit', '5'])).exitCode).toBe(5);
});

test('E_BUN_MISSING with another version of the package `bun`', async () => {
  const place = await install('bun package');
  await Bun.write(join(place, 'node_modules', 'bun', 'package.json'), '{ "version": "1.0.0" }');
  expect((await runToEnd(place, ['report'])).stderr).toStartWith('E_BUN_MISSING: ');
});

test('E_BUN_MISSING without Bun: a suggestion, and exit 3', async () => {
  const { stdout, stderr, exitCode } = await runToEnd(await install('nowhere'), ['report']);
  expect(stdout).toBe('');
  expect(stderr).toStartWith('E_BUN_MISSING: ');
  expect(stderr).toContain(errorCatalogue.E_BUN_MISSING.suggestion);
  expect(exitCode).toBe(3);
  const forPrograms = await runToEnd(await install('nowhere'), ['report', '--json']);
  expect(JSON.parse(forPrograms.stderr)).toMatchObject({ error: { code: 'E_BUN_MISSING' } });
});

test('E_BUN_MISSING when Bun cannot be started', async () => {
  const place = await install('nowhere');
  await plantBinary(place, '', 0o644);
  const { stderr, exitCode } = await runToEnd(place, ['report']);
  expect(stderr).toStartWith('E_BUN_MISSING: ');
  expect(stderr).toContain('EACCES');
  expect(exitCode).toBe(3);
});

test('depends on every platform package of Bun, and knows each by its name', async () => {
  const bunManifest = Bun.resolveSync('bun/package.json', import.meta.dir);
  const { optionalDependencies } = JSON.parse(readFileSync(bunManifest, 'utf8'));
  expect(runtimeManifest.optionalDependencies).toEqual(optionalDependencies);
  const platforms = ['darwin', 'linux', 'android', 'freebsd', 'win32'].flatMap((platform) =>
    ['arm64', 'x64'].map((arch): Platform => [platform, arch]),
  );
  const known = (await platformPackages(platforms)).flat().filter((name) => !name.endsWith('-baseline'));
  expect(new Set(known)).toEqual(new Set(Object.keys(optionalDependencies)));
});

test('the package for musl goes first', async () => {
  const [linux, mac, unknown] = await platformPackages([
    ['linux', 'x64'],
    ['darwin', 'arm64'],
    ['aix', 'ppc64'],
  ]);
  expect(linux).toEqual([
    '@oven/bun-linux-x64-musl',
    '@oven/bun-linux-x64',
    '@oven/bun-linux-x64-musl-baseline',
    '@oven/bun-linux-x64-baseline',
  ]);
  expect(mac).toEqual(['@oven/bun-darwin-aarch64']);
  expect(unknown).toEqual([]);
});

/**
 * Lays out the launcher as npm does, with Bun in one of the folders where npm may put it. Returns the folder of the
 * package.
 */
async function install(bunPlace: BunPlace): Promise<string> {
  const place = mkdtempSync(join(temporary, 'cli-'));
  cpSync(launcherFolder, join(place, 'bin'), { recursive: true });
  await Bun.write(join(place, 'src', 'main.ts'), mainSource);
  const runtime = join(place, 'node_modules', '@goondan', 'runtime');
  for (const name of ['package.json', 'bin'])
    cpSync(join(runtimeFolder, name), join(runtime, name), { recursive: true });

  const bunPackage = join(place, 'node_modules', 'bun');
  const [version] = Object.values(runtimeManifest.optionalDependencies);
  await Bun.write(join(bunPackage, 'package.json'), JSON.stringify({ name: 'bun', version }));
  mkdirSync(join(bunPackage, 'bin'));
  if (bunPlace === 'bun package') {
    symlinkSync(process.execPath, join(bunPackage, 'bin', 'bun.exe'));
    return place;
  }
  await Bun.write(join(bunPackage, 'bin', 'bun.exe'), 'a placeholder');
  if (bunPlace === 'nowhere') return place;

  const names = (await platformPackages([[process.platform, process.arch]])).flat();
  const name = names.find((each) => !each.includes('-musl')) ?? '';
  const platformPackage = join(place, 'node_modules', name);
  await Bun.write(join(platformPackage, 'package.json'), JSON.stringify({ name }));
  mkdirSync(join(platformPackage, 'bin'));
  symlinkSync(process.execPath, join(platformPackage, 'bin', process.platform === 'win32' ? 'bun.exe' : 'bun'));
  return place;
}

/** Writes a file that is large enough to pass for Bun. */
async function plantBinary(place: string, beginning: string, mode: number): Promise<void> {
  const path = join(place, 'node_modules', 'bun', 'bin', 'bun.exe');
  await Bun.write(path, beginning.padEnd(2 * 1024 * 1024, '#'));
  chmodSync(path, mode);
}

/** Runs the function in Node, as in an installed package. */
async function platformPackages(platforms: Platform[]): Promise<string[][]> {
  const question = `import { platformPackages } from ${JSON.stringify(join(runtimeFolder, 'bin', 'find-bun.cjs'))};
    const answers = ${JSON.stringify(platforms)}.map((platform) => platformPackages(...platform));
    console.log(JSON.stringify(answers));`;
  return Bun.spawn(['node', '--input-type=module', '--eval', question]).stdout.json();
}

function start(place: string, args: string[], cwd = place) {
  return Bun.spawn(['node', join(place, 'bin', 'gdn.cjs'), ...args], {
    cwd,
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  });
}

async function runToEnd(place: string, args: string[], cwd?: string) {
  const child = start(place, args, cwd);
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { stdout, stderr, exitCode: child.exitCode, signalCode: child.signalCode };
}

/** Returns one line after the other; the empty string at the end of the stream. */
function readLines(stream: ReadableStream<Uint8Array>) {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let buffered = '';
  return {
    async next(): Promise<string> {
      while (!buffered.includes('\n')) {
        const { value, done } = await reader.read();
        if (done) return buffered;
        buffered += decoder.decode(value, { stream: true });
      }
      const end = buffered.indexOf('\n');
      const line = buffered.slice(0, end);
      buffered = buffered.slice(end + 1);
      return line;
    },
  };
}
