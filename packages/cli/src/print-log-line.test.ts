import { describe, expect, test } from 'bun:test';
import type { LogLine } from '@goondan/runtime';
import { errorLine } from './error-line.ts';
import { printLogLine } from './print-log-line.ts';
import { openTerminal } from './terminal.ts';

const place = { file: 'extensions/rules.ts', line: 14, column: 7 };
const failed: LogLine = {
  time: '2026-01-01T00:00:00.000Z',
  level: 'error',
  event: 'turn.failed',
  message: 'Turn failed: x is not defined\nin two lines',
  agent: 'host',
  instance: 'default',
  extension: 'rules',
  place,
  data: { code: 'E_EXT_MIDDLEWARE', stack: 'ReferenceError: x is not defined\n    at extensions/rules.ts:14:7' },
};

function printed(line: LogLine, isReported?: (line: LogLine) => boolean): string {
  let text = '';
  const stderr = { write: (piece: string) => (text += piece) };
  printLogLine(line, openTerminal({ stdout: { write: () => undefined }, stderr, env: {} }), isReported);
  return text;
}

describe('a log line about thrown code', () => {
  test('names extension, code and place in its first line, without the stack', () => {
    expect(printed(failed, () => false)).toBe(
      'error: host rules: Turn failed: x is not defined (E_EXT_MIDDLEWARE, extensions/rules.ts:14:7)\nin two lines\n',
    );
  });

  test('names a code once, even when the message has it', () => {
    const line = { ...failed, event: 'start.failed', message: 'E_EXT_MIDDLEWARE: x is not defined' };
    expect(printed(line, () => false)).toBe(
      'error: host rules: E_EXT_MIDDLEWARE: x is not defined (extensions/rules.ts:14:7)\n',
    );
  });

  test('is not printed when it is about a turn that the command reports itself', () => {
    expect(printed(failed)).toBe('');
  });
});

describe('a log line about an extension without a place', () => {
  const { place: _, data: __, ...line } = failed;

  test('names the extension of a line that the runtime wrote', () => {
    expect(printed({ ...line, event: 'status.refused', message: 'A status was ignored' })).toBe(
      'error: host rules: A status was ignored\n',
    );
  });

  test('names the extension once, even when the message has it', () => {
    const message = 'The step layer "a" of extension "rules" never called next()';
    expect(printed({ ...line, event: 'middleware.short_circuit', message })).toBe(`error: host: ${message}\n`);
  });

  test('is unchanged when the extension logged it', () => {
    const { event: ___, ...logged } = line;
    expect(printed({ ...logged, message: 'The thermometer is old.' })).toBe('error: host: The thermometer is old.\n');
  });
});

test('a log line names the instance, unless it is the default', () => {
  const line = { time: failed.time, level: 'error' as const, event: 'start.failed', message: 'The agent cannot start' };
  expect(printed({ ...line, agent: 'host', instance: 'other' })).toBe('error: host (other): The agent cannot start\n');
  expect(printed({ ...line, agent: 'host', instance: 'default' })).toBe('error: host: The agent cannot start\n');
  expect(printed({ ...line, connection: 'web' })).toBe('error: web: The agent cannot start\n');
});

describe('an error in one line', () => {
  test.each([
    [{ code: 'E_X', message: 'm', extension: 'rules', place }, 'E_X: Extension/rules: m (extensions/rules.ts:14:7)'],
    [{ code: 'E_X', message: 'of "rules"', extension: 'rules' }, 'E_X: of "rules"'],
    [
      { message: 'Extension/rules: m\nmore', extension: 'rules', place },
      'Extension/rules: m (extensions/rules.ts:14:7)\nmore',
    ],
    [{ message: 'm' }, 'm'],
  ])('%#', (error, line) => {
    expect(errorLine(error)).toBe(line);
  });
});
