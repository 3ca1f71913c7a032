// Checks that a test is never skipped silently because a part of the system is missing.
import { afterAll, describe, expect, test } from 'bun:test';
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repository } from './read-repository.ts';
import { makeScratchRepository } from './scratch-repository.ts';

const temporary = realpathSync(mkdtempSync(join(tmpdir(), 'goondan-parts-')));
afterAll(() => rmSync(temporary, { recursive: true }));

const passing = `import { test } from 'bun:test'; test('passes', () => undefined);`;
const needing = `import { test } from 'bun:test';
import { hasPart } from './test/parts.ts';
test.skipIf(!hasPart('tmux', false))('needs a terminal', () => undefined);`;
const skipping = `import { test } from 'bun:test'; test.skip('is for another system', () => undefined);`;

describe('.ci/run', () => {
  test('Part 7 fails when a part that tests need is missing, and names it; the last line is the count', async () => {
    const { lines, exitCode } = await runCi({ 'a.test.ts': passing, 'b.test.ts': needing });
    expect(lines.join('\n')).toContain('Missing part: tmux. The tests that need it cannot run: it is not installed.');
    expect(lines.at(-1)).toBe('1 passed, 1 failed');
    expect(exitCode).toBe(1);
  });

  test('Part 7 counts a test that is skipped for another reason, and does not fail', async () => {
    const { lines, exitCode } = await runCi({ 'a.test.ts': passing, 'b.test.ts': skipping });
    expect(lines.join('\n')).toContain('is for another system');
    expect(lines.at(-1)).toBe('1 passed, 0 failed, 1 skipped');
    expect(exitCode).toBe(0);
  });

  test('Part 7 installs the parts that tests need and the system lacks', async () => {
    const { lines } = await runCi({ 'a.test.ts': passing, 'c.tmux.test.ts': passing });
    expect(lines.find((line) => line.startsWith('apt-get install'))).toEndWith(' tmux bubblewrap util-linux');
  });
});

test('Part 7 on a developer’s machine those tests are skipped, and the run gives the reason', async () => {
  const { lines, exitCode } = await run({ 'a.test.ts': passing, 'b.test.ts': needing }, ['npm', 'test']);
  expect(lines.join('\n')).toContain('Missing part: tmux.');
  expect(lines.at(-1)).toBe('1 passed, 0 failed, 1 skipped');
  expect(exitCode).toBe(0);
});

describe('a test that needs PostgreSQL', () => {
  // A file with a database at the top, one with `beforeAll`, one with swarms, and one of another package.
  const chosen = [
    'packages/postgres/src/driver/database.test.ts',
    'packages/postgres/src/driver/several-hosts.process.test.ts',
    'packages/postgres/src/nodes/tokens.test.ts',
    'packages/cli/src/commands/store.process.test.ts',
  ];
  const runWithout = (parts: Record<string, string>) => {
    const env = { ...process.env, GOONDAN_TEST_POSTGRES: 'none', ...parts };
    const command = [process.execPath, 'test', ...chosen.map((path) => `./${path}`)];
    return Bun.spawnSync(command, { cwd: repository, env, stdout: 'pipe', stderr: 'pipe' });
  };

  test('Part 7 is skipped with the reason where no server can run', () => {
    const { stderr, exitCode } = runWithout({ GOONDAN_TEST_PARTS: '' });
    expect(stderr.toString()).toContain('Missing part: postgresql.');
    expect(stderr.toString()).toMatch(/\n 0 pass\n \d\d skip\n 0 fail\n/);
    expect(exitCode).toBe(0);
  });

  test('Part 7 fails in .ci/run where no server can run', () => {
    const { stderr, exitCode } = runWithout({ GOONDAN_TEST_PARTS: 'all' });
    expect(stderr.toString()).toContain('Missing part: postgresql.');
    expect(stderr.toString()).toMatch(/\n 0 pass\n 4 fail\n/);
    expect(exitCode).toBe(1);
  });
});

/**
 * Runs `.ci/run` in a repository with only these tests, on a system where npm installs nothing and apt-get only prints
 * its arguments.
 */
function runCi(files: Record<string, string>) {
  return run(files, ['.ci/run']);
}

async function run(files: Record<string, string>, command: string[]) {
  const place = await makeScratchRepository(temporary, files, ['.ci/run', 'test/parts.ts']);
  const known = ['bash', 'cat', 'dirname', 'find', 'grep', 'mktemp', 'node', 'rm', 'tail', 'tee'];
  const programs = {
    ...Object.fromEntries(known.map((name) => [name, `exec ${Bun.which(name)} "$@"`])),
    npm: '[ "$1" = ci ] || exec node scripts/run-bun.mjs test',
    'apt-get': 'echo "apt-get $*"',
  };
  for (const [name, text] of Object.entries(programs)) {
    await Bun.write(join(place, 'bin', name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(place, 'bin', name), 0o755);
  }
  const { GOONDAN_TEST_PARTS: _, ...env } = process.env;
  const child = Bun.spawn(command, {
    cwd: place,
    env: { ...env, PATH: join(place, 'bin') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, exitCode] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { lines: `${stderr}${stdout}`.trimEnd().split('\n'), exitCode };
}
