import { expect, test } from 'bun:test';
import { errorCatalogue, GoondanError } from '@goondan/types';
import { reportError, reportTurnError } from './report-error.ts';
import { openTerminal } from './terminal.ts';

test('an error with a code: the problem, a suggestion, exit 1', () => {
  const error = new GoondanError('E_MODEL_FAILED', 'Model/x: overloaded', { suggestion: 'Wait a minute.' });
  expect(report(error)).toEqual({ code: 1, printed: 'E_MODEL_FAILED: Model/x: overloaded\nWait a minute.\n' });
});

test.each([
  ['E_USAGE', 2],
  ['E_BUNDLE_MISSING', 3],
  ['E_CONTROL_CLOSED', 3],
  ['E_BUNDLE_INVALID', 4],
  ['E_DISK_FULL', 1],
] as const)('%s: exit %d', (code, exitCode) => {
  expect(report(new GoondanError(code, 'So it is.')).code).toBe(exitCode);
});

test('a failed turn: exit 1, even with a code of the setup', () => {
  const terminal = openTerminal({ stdout: { write: () => undefined }, stderr: { write: () => undefined }, env: {} });
  expect(reportTurnError({ code: 'E_AGENT_UNKNOWN', message: 'Nobody.' }, terminal)).toBe(1);
  expect(reportTurnError({ code: 'E_CANCELLED', message: 'Cancelled.' }, terminal)).toBe(130);
});

test.each([
  ['E_CANCELLED', '\x1b[2mE_CANCELLED: So it is.\x1b[22m\n'],
  ['E_MODEL_FAILED', '\x1b[31mE_MODEL_FAILED: So it is.\x1b[39m\n'],
])('a turn with %s is printed in its colour', (code, printed) => {
  let screen = '';
  const stderr = { write: (text: string) => (screen += text), isTTY: true };
  reportTurnError({ code, message: 'So it is.' }, openTerminal({ stdout: stderr, stderr, env: {} }));
  expect(screen).toBe(printed);
});

test('at a narrow terminal, the problem and the suggestion break between words', () => {
  let screen = '';
  const stderr = { write: (text: string) => (screen += text), isTTY: true, columns: 24 };
  const error = new GoondanError('E_USAGE', 'Nobody is there at all.', {
    suggestion: 'Type `gdn run --input something`.',
  });
  reportError(error, openTerminal({ stdout: stderr, stderr, env: { NO_COLOR: '1' } }));
  expect(screen).toBe('E_USAGE: Nobody is there\nat all.\nType\n`gdn run --input something`.\n');
});

test('a cancelled turn: exit 130', () => {
  expect(report(new GoondanError('E_CANCELLED', 'The turn was cancelled.')).code).toBe(130);
});

test.each([new TypeError('x is not a function'), 'x is not a function'])(
  'an unexpected error: how to see its stack, exit 1',
  (error) => {
    const { suggestion } = errorCatalogue.E_UNEXPECTED;
    expect(report(error)).toEqual({ code: 1, printed: `E_UNEXPECTED: x is not a function\n${suggestion}\n` });
  },
);

test('with GOONDAN_DEBUG its stack is printed first', () => {
  const { printed } = report(new TypeError('x is not a function'), { env: { GOONDAN_DEBUG: '1' } });
  expect(printed).toMatch(/^TypeError: x is not a function\n +at .*report-error\.test\.ts/);
  expect(printed).toContain('\nE_UNEXPECTED: x is not a function\n');
});

test('quoted text does not control the terminal', () => {
  const error = new GoondanError('E_MODEL_FAILED', 'It says:\n\x1b[31mred', { suggestion: 'Wait.\x07' });
  expect(report(error).printed).toBe('E_MODEL_FAILED: It says:\n␛[31mred\nWait.␇\n');
});

test('commands in the suggestion are typed as the person types them', () => {
  const error = new GoondanError('E_TRACE_UNKNOWN', 'None.', { suggestion: 'Type `gdn trace`, or `npx gdn ls`.' });
  const env = { npm_command: 'exec', npm_lifecycle_event: 'npx' };
  expect(report(error, { env }).printed).toBe('E_TRACE_UNKNOWN: None.\nType `npx gdn trace`, or `npx gdn ls`.\n');
  expect(report(error).printed).toBe('E_TRACE_UNKNOWN: None.\nType `gdn trace`, or `npx gdn ls`.\n');
});

test('for programs: one line of JSON', () => {
  const { printed } = report(new GoondanError('E_CANCELLED', 'Two\nlines.', { suggestion: 'None.' }), { json: true });
  expect(printed).toBe('{"error":{"code":"E_CANCELLED","message":"Two\\nlines.","suggestion":"None."}}\n');
});

function report(error: unknown, { env = {}, json = false }: { env?: Record<string, string>; json?: boolean } = {}) {
  let printed = '';
  const stderr = { write: (text: string) => (printed += text) };
  const code = reportError(error, openTerminal({ stdout: { write: () => undefined }, stderr, env, json }));
  return { code, printed };
}
