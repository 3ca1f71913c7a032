// Real processes: `gdn` as npm installs it, started by Node.
import { describe, expect, test } from 'bun:test';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorCatalogue } from '@goondan/types';
import manifest from '../package.json' with { type: 'json' };

const launcher = join(import.meta.dir, '..', 'bin', 'gdn.mjs');
const answer = 'Seoul, the next 3 days: 12 °C, 14 °C, 11 °C.';
const escape = '\x1b';
/** The scripted model says it back, which takes it a minute. */
const longInput = 'word '.repeat(3_000);

describe('gdn', () => {
  test('--version is the version of the package', async () => {
    expect(await gdn('--version')).toEqual({ stdout: `${manifest.version}\n`, stderr: '', exitCode: 0 });
  });

  test('--help names the commands and the exit codes, and ends with an example', async () => {
    const { stdout, stderr, exitCode } = await gdn('--help');
    expect(stdout).toMatch(/^ {2}demo .+$/m);
    expect(stdout).toMatch(/^ {2}130 .+$/m);
    expect(stdout).toMatch(/\nExamples:\n {2}\$ gdn demo\n/);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  });

  test('without a command: the help, on standard error, and exit 2', async () => {
    const { stdout, stderr, exitCode } = await gdn();
    expect(stderr).toStartWith('Usage: gdn ');
    expect(stderr).toMatch(/\nExamples:\n {2}\$ gdn demo\n/);
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 2 });
  });

  test('a mistake in the command line: what it is and what to type, on standard error, exit 2', async () => {
    expect(await gdn('dmeo')).toEqual({
      stdout: '',
      stderr: "E_USAGE: unknown command 'dmeo' (Did you mean demo?)\n`gdn --help` lists what there is.\n",
      exitCode: 2,
    });
  });

  test('--json: the error is JSON too, one line on standard error', async () => {
    const { stdout, stderr, exitCode } = await gdn('status', '--json', '--bundle', '/nowhere');
    expect(JSON.parse(stderr)).toEqual({
      error: {
        code: 'E_BUNDLE_MISSING',
        message: 'There is no folder "/nowhere".',
        suggestion: errorCatalogue.E_BUNDLE_MISSING.suggestion,
      },
    });
    expect(stderr.split('\n')).toHaveLength(2);
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 3 });
  });

  test('colours errors on a terminal, and nowhere else', async () => {
    expect((await gdnOnTerminal({ NO_COLOR: '' }, ['dmeo'])).screen).toContain(`${escape}[31mE_USAGE`);
    expect((await gdnOnTerminal({ NO_COLOR: '1' }, ['dmeo'])).screen).not.toContain(escape);
    expect((await gdnWith({ CI: 'true', FORCE_COLOR: '1' }, 'dmeo')).stderr).not.toContain(escape);
  });
});

test('E_CURRENT_FOLDER and exit 3 where there is no folder any more', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gdn-gone-'));
  const shell = Bun.spawn(['sh', '-c', 'cd "$1" && rmdir "$1" && exec node "$2" validate .', 'sh', folder, launcher], {
    stdout: 'pipe',
    stderr: 'pipe',
  });
  expect(await shell.stderr.text()).toBe(
    'E_CURRENT_FOLDER: The current folder is not there any more.\nGo to another folder, and type it there.\n',
  );
  expect(await shell.stdout.text()).toBe('');
  expect(await shell.exited).toBe(3);
});

describe('gdn demo', () => {
  test('--help ends with an example', async () => {
    const { stdout, exitCode } = await gdn('demo', '--help');
    expect(stdout).toContain('--json');
    expect(stdout).toEndWith('Example:\n  $ gdn demo --input "What is the weather in Lisbon?"\n');
    expect(exitCode).toBe(0);
  });

  test('prints the question, the answer and the onion trace', async () => {
    const { stdout, stderr, exitCode } = await gdn('demo');
    const [you, agent, blank, legend, ...trace] = stdout.trimEnd().split('\n');
    expect(you).toBe('You    What is the weather in Seoul for the next 30 days?');
    expect(agent).toBe(`Agent  ${answer}`);
    expect(blank).toBe('');
    for (const sign of ['own', '~', '←', '+']) expect(legend).toContain(sign);
    expect(trace.map(withoutTimes)).toEqual([
      'turn forecaster N ms',
      '│ memory own N ms',
      '│ │ + append system memory.visits',
      '│ │ step 0 N ms',
      '│ │ │ read-only own N ms',
      '│ │ │ │ ~ toolCatalog.weather__save removed',
      '│ │ │ │ model Model/scripted N ms',
      '│ │ │ │ toolCall weather__forecast N ms',
      '│ │ │ │ │ tool-guard · limit numbers own N ms',
      '│ │ │ │ │ │ ~ args.days: 30 → 3',
      '│ │ │ │ │ │ tool-guard · hide fields own N ms',
      '│ │ │ │ │ │ │ ← output.station removed',
      '│ │ step 1 N ms',
      '│ │ │ read-only own N ms',
      '│ │ │ │ ~ toolCatalog.weather__save removed',
      '│ │ │ │ model Model/scripted N ms',
    ]);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  });

  test.each([
    ['What is the weather in Toronto?', 'Toronto, tomorrow: 3 °C.'],
    ['the weather in lisbon, next 2 days', 'Lisbon, the next 2 days: 21 °C, 22 °C.'],
    ['weather in Atlantis', 'There is no forecast for Atlantis, only for Seoul, Lisbon, Nairobi, Toronto.'],
    ['Good morning', 'You said: Good morning – but I know about the weather only. Ask me about the weather in Seoul.'],
  ])('--input asks something else: %s', async (input, expected) => {
    const { stdout, exitCode } = await gdn('demo', '--input', input);
    expect(stdout).toStartWith(`You    ${input}\nAgent  ${expected}\n\n`);
    expect(exitCode).toBe(0);
  });

  test('--json prints one object, and nothing else', async () => {
    const { stdout, stderr, exitCode } = await gdn('demo', '--json');
    expect(JSON.parse(stdout)).toEqual({
      agent: 'forecaster',
      instanceKey: 'default',
      turnId: expect.stringMatching(/^turn-event-./),
      traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
      response: answer,
      finishReason: 'text_response',
      steps: 2,
      usage: {
        inputTokens: expect.any(Number),
        outputTokens: expect.any(Number),
        totalTokens: expect.any(Number),
      },
      trace: expect.objectContaining({
        kind: 'turn',
        label: 'forecaster',
        layers: [expect.objectContaining({ extension: 'memory', emitted: ['append system memory.visits'] })],
        inside: [expect.objectContaining({ kind: 'step' }), expect.objectContaining({ kind: 'step' })],
      }),
    });
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  });

  test('no colour when piped, not even in CI', async () => {
    const { stdout } = await gdnWith({ CI: 'true' }, 'demo');
    expect(stdout).toContain(answer);
    expect(stdout).not.toContain(escape);
  });

  test('on a terminal: in colour, the answer word by word', async () => {
    const { screen, exitCode, pieces } = await gdnOnTerminal({ NO_COLOR: '' }, ['demo']);
    expect(screen).toContain(`${escape}[1mAgent${escape}[22m  ${answer}\r\n`);
    expect(screen).toContain(`${escape}[33m~ args.days: 30 → 3${escape}[39m`);
    expect(pieces).toContain('days: ');
    expect(exitCode).toBe(0);
  });

  test('on a terminal with NO_COLOR: the same without colour', async () => {
    const { screen } = await gdnOnTerminal({ NO_COLOR: '1' }, ['demo']);
    expect(screen).toContain(`Agent  ${answer}\r\n`);
    expect(screen).not.toContain(escape);
  });

  test('Ctrl-C cancels the turn: E_CANCELLED, exit 130', async () => {
    const { screen, exitCode } = await gdnOnTerminal({ NO_COLOR: '1' }, ['demo', '--input', longInput], {
      whenSeen: 'Agent  You said: word word ',
      press: '\x03',
    });
    expect(screen).toContain('\r\nE_CANCELLED: The turn was cancelled.\r\n');
    // The turn came to an end of its own: its trace is there.
    expect(screen).toContain('│ ✗ E_CANCELLED');
    expect(exitCode).toBe(130);
  });

  test('SIGINT without a terminal does the same', async () => {
    const child = start({}, 'demo', '--input', longInput);
    const reader = child.stdout.getReader();
    // The question is printed when Ctrl-C is being listened to.
    await reader.read();
    child.kill('SIGINT');
    expect(await child.stderr.text()).toStartWith('E_CANCELLED: The turn was cancelled.\n');
    expect(await child.exited).toBe(130);
  });

  test('a reader that leaves early is no failure', async () => {
    const child = Bun.spawn(['sh', '-c', 'node "$0" demo --json | true; node "$0" demo | head -n 1', launcher], {
      stderr: 'pipe',
    });
    expect(await child.stdout.text()).toBe('You    What is the weather in Seoul for the next 30 days?\n');
    expect(await child.stderr.text()).toBe('');
  });

  test('a full disk is a failure in one line', async () => {
    const child = Bun.spawn(['sh', '-c', 'node "$0" demo --json > /dev/full', launcher], { stderr: 'pipe' });
    expect(await child.stderr.text()).toMatch(/^Standard output cannot be written: ENOSPC.*\n$/);
    expect(await child.exited).toBe(1);
  });

  test('is in the published package, without the tests', async () => {
    const pack = Bun.spawn(['npm', 'pack', '--dry-run', '--json', '--ignore-scripts', '--loglevel=error'], {
      cwd: join(import.meta.dir, '..'),
      stderr: 'pipe',
    });
    const [{ files }]: [{ files: { path: string }[] }] = await pack.stdout.json();
    const paths = files.map(({ path }) => path);
    for (const path of ['agent.ts', 'tools/weather.ts', 'extensions/memory.ts'])
      expect(paths).toContain(`demo/${path}`);
    expect(paths.filter((path) => path.endsWith('.test.ts'))).toEqual([]);
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

async function gdnOnTerminal(
  env: Record<string, string>,
  args: string[],
  reaction?: { readonly whenSeen: string; readonly press: string },
) {
  const pieces: string[] = [];
  let isPressed = false;
  const child = Bun.spawn(['node', launcher, ...args], {
    env: { ...process.env, TERM: 'xterm', ...env },
    terminal: {
      cols: 200,
      data(terminal, bytes) {
        pieces.push(new TextDecoder().decode(bytes));
        if (isPressed || reaction === undefined || !pieces.join('').includes(reaction.whenSeen)) return;
        isPressed = true;
        terminal.write(reaction.press);
      },
    },
  });
  const exitCode = await child.exited;
  return { screen: pieces.join(''), pieces, exitCode };
}

function withoutTimes(line: string): string {
  return line.replace(/\d+(\.\d+)? ms$/, 'N ms');
}
