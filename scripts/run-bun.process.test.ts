// Tests real runs: a copy of the script in a temporary repository that has its own tests.
import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeScratchRepository } from '../test/scratch-repository.ts';

const temporary = realpathSync(mkdtempSync(join(tmpdir(), 'gdn-run-bun-')));
afterAll(() => rmSync(temporary, { recursive: true }));

const passing = `import { expect, test } from 'bun:test';
test('passes', () => expect(process.env.SECRET).toBeUndefined());`;
const failing = `import { expect, test } from 'bun:test'; test('fails', () => expect(1).toBe(2));`;
const early = `throw new Error('early');`;
const skipped = `import { test } from 'bun:test'; test.skip('is skipped', () => {});`;

describe('npm test', () => {
  test('ends with the counts, alone on the last line', async () => {
    const { stdout, stderr, exitCode } = await runSuite({ 'a.test.ts': passing, 'sub/b.test.ts': passing });
    expect(stdout).toEndWith('\n2 passed, 0 failed\n');
    expect(stderr).toContain('(pass) passes');
    expect(exitCode).toBe(0);
  });

  test.each<[string, Record<string, string>, string, number]>([
    ['a failed test fails the run', { 'a.test.ts': passing, 'b.test.ts': failing }, '1 passed, 1 failed', 1],
    ['a file that does not load fails the run', { 'a.test.ts': passing, 'b.test.ts': early }, '1 passed, 1 failed', 1],
    ['reports skipped tests', { 'a.test.ts': passing, 'b.test.ts': skipped }, '1 passed, 0 failed, 1 skipped', 0],
    ['a run without tests has failed', { 'a.test.ts': skipped }, '0 passed, 0 failed, 1 skipped', 1],
  ])('%s', async (_, files, counts, expected) => {
    const { stdout, exitCode } = await runSuite(files);
    expect(stdout).toEndWith(`\n${counts}\n`);
    expect(exitCode).toBe(expected);
  });

  test('a run without a summary has failed, whatever its exit code', async () => {
    const { stdout, stderr, exitCode } = await runSuite({ 'a.test.ts': 'process.exit(0);' });
    expect(stdout).toEndWith('0 passed, 1 failed\n');
    expect(stderr).toContain('process.exit');
    expect(exitCode).toBe(1);
  });

  test('ignores a test that prints a summary', async () => {
    const printing = `${passing} console.error('\\n 70 pass\\n 8 fail\\nRan 78 tests across 9 files. [1.00ms]\\n');`;
    const { stdout } = await runSuite({ 'a.test.ts': printing });
    expect(stdout).toEndWith('\n1 passed, 0 failed\n');
  });

  test('reads a summary with written snapshots', async () => {
    const shown = `import { expect, test } from 'bun:test'; test('shows', () => expect('text').toMatchSnapshot());`;
    const { stdout, exitCode } = await runSuite({ 'a.test.ts': shown }, ['-u']);
    expect(stdout).toEndWith('\n1 passed, 0 failed\n');
    expect(exitCode).toBe(0);
  });

  test('reads a summary in colour', async () => {
    const { stdout } = await runSuite({ 'a.test.ts': passing, 'b.test.ts': skipped }, [], { FORCE_COLOR: '1' });
    expect(stdout).toEndWith('\n1 passed, 0 failed, 1 skipped\n');
  });

  test('ends with the error of each failed test, under its title, just before the counts', async () => {
    const many = `import { expect, test, describe } from 'bun:test';
      describe('outer', () => describe('inner <1>', () => {
        test('differs', () => expect({ left: 'one & "two"' }).toEqual({ left: 3 }));
        test('passes', () => {});
        test('is late', () => new Promise(() => {}), 10);
      }));`;
    const before = `import { beforeAll, test } from 'bun:test';
      beforeAll(() => { throw new Error('nothing is ready'); });
      test('never runs', () => {});`;
    const { stdout, stderr } = await runSuite({
      'a.test.ts': failing,
      'b.test.ts': many,
      'c.test.ts': before,
      'd.test.ts': early,
    });
    const [, described = ''] = stdout.split('\nFailures: 5\n');
    const parts = described.split('\n(fail) ').slice(1);
    expect(parts.toSorted()).toEqual([
      expect.stringMatching(/^An error outside all tests\n[^]*error: early\n[^]*d\.test\.ts:1:/),
      expect.stringMatching(/^a\.test\.ts:1 fails\nAssertionError: [^]*Expected: 2\nReceived: 1\n/),
      expect.stringMatching(/^b\.test\.ts:3 outer > inner <1> > differs\n[^]*\+ {3}"left": "one & "two""/),
      expect.stringMatching(/^b\.test\.ts:5 outer > inner <1> > is late\ntest timed out\n/),
      expect.stringMatching(/^c\.test\.ts \(unnamed\)\nError: nothing is ready\n/),
    ]);
    expect(described).toEndWith('\n\n1 passed, 5 failed\n');
    expect(stderr).toContain('(fail) outer > inner <1> > differs');
  });

  test('a failed test gets the same random samples again with the command that is printed', async () => {
    const sampled = `import { test } from 'bun:test';
      import fc from 'fast-check';
      for (const name of ["isn't \\"$(small)\\" | [🙂]\\n  in lines", 'is not small'])
        test(name, () => { throw new Error('sample ' + fc.sample(fc.uuid(), 1)); });`;
    const files = { 'a.test.ts': sampled };
    const first = await runSuite(files, [], { GOONDAN_SEED: undefined });
    const [, sample = ''] = /(sample \S+)\n/.exec(first.stdout) ?? [];
    const repeat = /^Repeat: GOONDAN_SEED=(\d+) npm test -- a\.test\.ts -t '(isn.*)'$/m.exec(first.stdout);
    const [, seed = '', title = ''] = repeat ?? [];
    const again = await runSuite(files, ['a.test.ts', '-t', title], { GOONDAN_SEED: seed });
    expect(again.stdout).toContain(`\nError: ${sample}\n`);
    expect(again.stdout).toEndWith('\n0 passed, 1 failed\n');
    const other = await runSuite(files, [], { GOONDAN_SEED: undefined });
    expect(other.stdout).not.toContain(`\nError: ${sample}\n`);
  });

  test('shows at most 20 failed tests and 80 lines of each, with the start and the end', async () => {
    const long = Array.from({ length: 100 }, (_, index) => `line ${index}`).join('\\n');
    const { stdout } = await runSuite({
      'a.test.ts': `import { test } from 'bun:test';
        test('is long', () => { throw new Error('${long}\\n' + 'x'.repeat(10_000)); });
        for (let each = 0; each < 21; each += 1) test('fails ' + each, () => { throw new Error('short'); });`,
    });
    const [, described = ''] = stdout.split('\nFailures: 22\n');
    const parts = described.split('\n(fail) ').slice(1);
    expect(parts).toHaveLength(20);
    const [, ...lines] =
      parts
        .find((part) => part.includes(' is long\n'))
        ?.trimEnd()
        .split('\n') ?? [];
    expect(lines.pop()).toMatch(/^Repeat: .* npm test -- a\.test\.ts -t 'is long\$'$/);
    expect(lines).toHaveLength(80);
    expect(lines[0]).toBe('Error: line 0');
    expect(lines).toContain('… 23 lines left out …');
    expect(lines.at(-1)).toContain(' at a.test.ts:2:');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(2_100);
    expect(described).toEndWith('\n… and 2 more failures\n\n0 passed, 22 failed\n');
  });

  test('prints nothing about failures, and leaves no report, if there are none', async () => {
    const scratch = mkdtempSync(join(temporary, 'scratch-'));
    const { stdout } = await runSuite({ 'a.test.ts': passing }, [], { TMPDIR: scratch });
    expect(stdout).not.toContain('Failures');
    await runSuite({ 'a.test.ts': failing }, [], { TMPDIR: scratch });
    expect(readdirSync(scratch)).toEqual([]);
  });

  test('passes further arguments on to Bun', async () => {
    const { stdout } = await runSuite({ 'a.test.ts': passing, 'b.test.ts': failing }, ['a.test']);
    expect(stdout).toEndWith('\n1 passed, 0 failed\n');
  });

  test('starts the slowest of the listed files first', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => `${letter}.test.ts`);
    const order = join(mkdtempSync(join(temporary, 'order-')), 'begun.txt');
    // The first file of each of the two processes ends after both have begun, however slowly one of them starts.
    const waiting = `import { test } from 'bun:test';
      import { appendFileSync, readFileSync } from 'node:fs';
      const order = ${JSON.stringify(order)};
      appendFileSync(order, import.meta.file + '\\n');
      test('waits', async () => { while (readFileSync(order, 'utf8').split('\\n').length < 3) await Bun.sleep(5); });`;
    const times = Object.fromEntries(names.map((name, index) => [name, index * 1_000]));
    await runSuite(
      {
        ...Object.fromEntries(names.map((name) => [name, waiting])),
        'test/timings.json': JSON.stringify({ version: 1, files: times }),
      },
      ['--parallel=2'],
    );
    expect(readFileSync(order, 'utf8').split('\n').slice(0, 2)).toContain('f.test.ts');
  });

  // One of the next runs waits five seconds, so they run at the same time.
  test.concurrent('gives tests no certificates of the developer', async () => {
    const asking = passing.replace('SECRET', 'NODE_EXTRA_CA_CERTS');
    const { stdout } = await runSuite({ 'a.test.ts': asking }, [], { NODE_EXTRA_CA_CERTS: '/dev/null' });
    expect(stdout).toEndWith('\n1 passed, 0 failed\n');
  });

  test.concurrent('processes that get the environment of a test have the usual settings of the engine', async () => {
    const asking = `import { expect, test } from 'bun:test';
      import { spawnSync } from 'node:child_process';
      test('asks', async () => {
        const ofBun = await Bun.spawn(['env'], { env: { ...process.env }, stdout: 'pipe' }).stdout.text();
        const names = [ofBun, spawnSync('env').stdout].join('').match(/^BUN_(?:JSC|GC)_\\w+/gm);
        expect(names).toBeNull();
      });`;
    const { stdout } = await runSuite({ 'a.test.ts': asking, 'b.test.ts': asking }, ['--parallel=1']);
    expect(stdout).toEndWith('\n2 passed, 0 failed\n');
  });

  test.concurrent('the test files of a process share their modules', async () => {
    const importing = `import { expect, test } from 'bun:test';
      import './counted.ts';
      test('passes', () => {});`;
    const names = Array.from({ length: 6 }, (_, index) => `${index}.test.ts`);
    const { stderr } = await runSuite({
      'counted.ts': `console.error('The module is loaded.');`,
      ...Object.fromEntries(names.map((name) => [name, importing])),
    });
    const loads = stderr.match(/The module is loaded/g) ?? [];
    expect(loads.length).toBeLessThanOrEqual(4);
    expect(stderr).toContain(' 6 pass');
  });

  test.concurrent('a file that leaves its process changed fails, and the files after it do not', async () => {
    const leaving = `import { expect, test } from 'bun:test';
      process.env.LEFT = 'there';
      test('passes', () => {
        process.on('SIGUSR2', () => {});
        process.chdir('scripts');
        globalThis.fetch = () => {};
        Bun.spawn(['sleep', '600']);
      });`;
    const { stdout, exitCode } = await runSuite(
      {
        'a.test.ts': leaving,
        ...Object.fromEntries(['b', 'c', 'd'].map((name) => [`${name}.test.ts`, passing])),
        'test/timings.json': JSON.stringify({ version: 1, files: { 'a.test.ts': 1_000 } }),
      },
      ['--parallel=2', '--parallel-delay=60000'],
    );
    const [, described = ''] = stdout.split('\nFailures: 1\n');
    expect(described).toContain('(fail) a.test.ts (unnamed)\nError: The tests of this file leave something behind: ');
    for (const left of ['another working directory', 'the variable LEFT', 'listeners for SIGUSR2', 'another fetch'])
      expect(described).toContain(left);
    if (process.platform === 'linux') expect(described).toMatch(/the process \d+ \(sleep 600\)/);
    expect(stdout).toEndWith('\n4 passed, 1 failed\n');
    expect(exitCode).toBe(1);
  });

  test.concurrent('runs only the tests of this repository, without its .env', async () => {
    const { stdout } = await runSuite({
      'a.test.ts': passing,
      'node_modules/other/b.test.ts': failing,
      'tmp/scratch/c.test.ts': failing,
      '.env': 'SECRET=a-developer-has-this',
    });
    expect(stdout).toEndWith('\n1 passed, 0 failed\n');
  });
});

async function runSuite(files: Record<string, string>, args: string[] = [], env: NodeJS.ProcessEnv = {}) {
  const child = Bun.spawn(['node', 'scripts/run-bun.mjs', 'test', ...args], {
    cwd: await makeScratchRepository(temporary, files),
    env: { ...process.env, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr, exitCode] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { stdout, stderr, exitCode };
}
