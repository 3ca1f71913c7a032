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

  test('decides for each stream by itself', () => {
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
