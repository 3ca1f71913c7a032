// Tests with real processes: `gdn` as npm installs it, started by Node.
import { describe, expect, test } from 'bun:test';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import manifest from '../package.json' with { type: 'json' };

const launcher = join(import.meta.dir, '..', 'bin', 'gdn.cjs');
const example = join(import.meta.dir, '..', '..', '..', 'examples', 'first-tool');
const escape = '\x1b';

describe('gdn', () => {
  test('--version is the version of the package', async () => {
    expect(await gdn('--version')).toEqual({ stdout: `${manifest.version}\n`, stderr: '', exitCode: 0 });
  });

  test('without a command: the help, on standard error, and exit 2', async () => {
    const { stdout, stderr, exitCode } = await gdn();
    expect(stderr).toStartWith('Usage: gdn ');
    expect(stderr).toMatch(/\nExamples:\n {2}\$ gdn demo\n/);
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 2 });
  });

  test('--json: the error is JSON too, one line on standard error', async () => {
    const { stdout, stderr, exitCode } = await gdn('status', '--json', '--bundle', '/nowhere');
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'E_BUNDLE_MISSING' } });
    expect(stderr.split('\n')).toHaveLength(2);
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 3 });
  });

  test('colours errors on a terminal only', async () => {
    expect((await gdnOnTerminal({ NO_COLOR: '' }, ['dmeo'])).screen).toContain(`${escape}[31mE_USAGE`);
    expect((await gdnOnTerminal({ NO_COLOR: '1' }, ['dmeo'])).screen).not.toContain(escape);
    expect((await gdnWith({ CI: 'true', FORCE_COLOR: '1' }, 'dmeo')).stderr).not.toContain(escape);
  });
});

test('E_CURRENT_FOLDER and exit 3 when the current folder no longer exists', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gdn-gone-'));
  const shell = Bun.spawn(['sh', '-c', 'cd "$1" && rmdir "$1" && exec node "$2" validate .', 'sh', folder, launcher], {
    stdout: 'pipe',
    stderr: 'pipe',
  });
  expect(await shell.stderr.text()).toBe(
    'E_CURRENT_FOLDER: The current folder no longer exists.\nChange to another folder and run the command there.\n',
  );
  expect(await shell.stdout.text()).toBe('');
  expect(await shell.exited).toBe(3);
});

describe('standard output', () => {
  test('a reader that closes the pipe early is not a failure', async () => {
    const child = Bun.spawn(['sh', '-c', 'node "$0" --help | true; node "$0" demo | head -n 1', launcher], {
      stderr: 'pipe',
    });
    expect(await child.stdout.text()).toBe('You    What is the weather in Seoul for the next 30 days?\n');
    expect(await child.stderr.text()).toBe('');
  });

  test('a full disk is a failure in one line', async () => {
    const child = Bun.spawn(['sh', '-c', 'node "$0" validate "$1" > /dev/full', launcher, example], { stderr: 'pipe' });
    expect(await child.stderr.text()).toMatch(/^Standard output cannot be written: ENOSPC.*\n$/);
    expect(await child.exited).toBe(1);
  });
});

function start(env: Record<string, string>, ...args: string[]) {
  return Bun.spawn(['node', launcher, ...args], {
    env: { ...process.env, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
}

function gdn(...args: string[]) {
  return gdnWith({}, ...args);
}

async function gdnWith(env: Record<string, string>, ...args: string[]) {
  const child = start(env, ...args);
  const [stdout, stderr, exitCode] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { stdout, stderr, exitCode };
}

async function gdnOnTerminal(env: Record<string, string>, args: string[]) {
  let screen = '';
  const child = Bun.spawn(['node', launcher, ...args], {
    env: { ...process.env, TERM: 'xterm', ...env },
    terminal: { cols: 200, data: (_terminal, bytes) => void (screen += new TextDecoder().decode(bytes)) },
  });
  return { exitCode: await child.exited, screen };
}
