import { describe, expect, test } from 'bun:test';
import { openTerminal } from './terminal.ts';

const coloured = '\x1b[1mword\x1b[22m';

describe('openTerminal', () => {
  test.each([
    ['a terminal', true, {}, coloured],
    ['a pipe', undefined, {}, 'word'],
    ['a pipe in CI', undefined, { CI: 'true' }, 'word'],
    ['a terminal with NO_COLOR', true, { NO_COLOR: '1' }, 'word'],
    ['a terminal with an empty NO_COLOR, which does not count', true, { NO_COLOR: '' }, coloured],
    ['a dumb terminal', true, { TERM: 'dumb' }, 'word'],
  ])('colours: %s', (_name, isTTY, env, expected) => {
    expect(open({ stdout: isTTY, stderr: isTTY, env }).colors.bold('word')).toBe(expected);
  });

  test('decides for each stream separately', () => {
    const terminal = open({ stdout: true, stderr: undefined, env: {} });
    expect(terminal.colors.bold('word')).toBe(coloured);
    expect(terminal.errorColors.bold('word')).toBe('word');
  });

  test('is watched when standard output is a terminal', () => {
    expect(open({ stdout: true, stderr: undefined, env: {} }).isWatched).toBe(true);
    expect(open({ stdout: undefined, stderr: true, env: {} }).isWatched).toBe(false);
  });

  test.each([
    [
      'on one screen, what is said beside an answer has a line of its own',
      true,
      true,
      'Good\nwarn: x\nnight\nwarn: y\n',
    ],
    ['elsewhere nothing is added', true, undefined, 'Goodwarn: x\nnight\nwarn: y\n'],
    ['nor in a pipe', undefined, true, 'Goodwarn: x\nnight\nwarn: y\n'],
  ])('%s', (_name, stdout, stderr, expected) => {
    let screen = '';
    const write = (text: string) => void (screen += text);
    const { print, printError } = openTerminal({
      stdout: { ...stream(stdout), write },
      stderr: { ...stream(stderr), write },
      env: {},
    });
    print('Good');
    print('');
    printError('warn: x\n');
    print('night\n');
    printError('warn: y\n');
    expect(screen).toBe(expected);
  });
});

describe('a terminal gets no control characters except from gdn', () => {
  const hostile = '\x1b]0;title\x07\x1b[2J\x9b8mred\r\n\u202ebad';

  test.each(['print', 'printError', 'write'] as const)('%s', async (name) => {
    let screen = '';
    const write = (text: string, taken?: () => void) => ((screen += text), taken?.());
    const terminal = openTerminal({ stdout: { write, isTTY: true }, stderr: { write, isTTY: true }, env: {} });
    await terminal[name](`${terminal.colors.red(terminal.colors.bold('mine'))} ${hostile}\n`);
    expect(screen).toBe('\x1b[31m\x1b[1mmine\x1b[22m\x1b[39m ␛]0;title␇␛[2J\ufffd8mred\r\n\ufffdbad\n');
  });

  test('output to a pipe is unchanged', () => {
    let piped = '';
    const write = (text: string) => (piped += text);
    openTerminal({ stdout: { write }, stderr: { write }, env: {} }).print(hostile);
    expect(piped).toBe(hostile);
  });

  test('every colour stays: dim in bold, and all printed ones', () => {
    let screen = '';
    const stdout = { write: (text: string) => (screen += text), isTTY: true };
    const { print, colors } = openTerminal({ stdout, stderr: stdout, env: {} });
    const paints = Object.values(colors);
    const text = paints.map((paint) => paint(`a${colors.dim('b')}c`)).join(' ');
    print(text);
    expect(screen).toBe(text);
  });
});

describe('the status line', () => {
  const erased = `\r${' '.repeat(19)}\r`;

  function openScreen(isTTY: boolean) {
    const screen = { text: '' };
    const write = (text: string, taken?: () => void) => ((screen.text += text), taken?.());
    const output = { write, isTTY, columns: 20 };
    return { screen, ...openTerminal({ stdout: output, stderr: output, env: { NO_COLOR: '1' } }) };
  }

  test.each(['print', 'printError', 'write'] as const)('is erased before %s, and shown once', async (name) => {
    const terminal = openScreen(true);
    terminal.showStatus('bash · 1 s');
    terminal.showStatus('bash · 1 s');
    await terminal[name]('Hi\n');
    expect(terminal.screen.text).toBe(`bash · 1 s${erased}Hi\n`);
  });

  test('is replaced, cleared, and cut to one line without control characters', () => {
    const { screen, showStatus } = openScreen(true);
    showStatus('one');
    showStatus(`\x1b[2J${'x'.repeat(30)}`);
    showStatus(undefined);
    expect(screen.text).toBe(`one${erased}␛[2J${'x'.repeat(12)}…${erased}`);
  });

  test('is shown neither in the middle of a line of the answer nor in a pipe', () => {
    const terminal = openScreen(true);
    terminal.print('Go');
    terminal.showStatus('one');
    expect(terminal.screen.text).toBe('Go');
    const pipe = openScreen(false);
    pipe.showStatus('one');
    expect(pipe.screen.text).toBe('');
  });
});

test('a terminal of unknown width has the usual width', () => {
  const stdout = { write: () => undefined, isTTY: true, columns: 0 };
  expect(openTerminal({ stdout, stderr: stdout, env: {} }).columns).toBe(80);
});

interface Streams {
  readonly stdout: boolean | undefined;
  readonly stderr: boolean | undefined;
  readonly env: Record<string, string>;
}

function open({ stdout, stderr, env }: Streams) {
  return openTerminal({ stdout: stream(stdout), stderr: stream(stderr), env });
}

function stream(isTTY: boolean | undefined) {
  return { write: () => true, ...(isTTY === undefined ? {} : { isTTY }) };
}
