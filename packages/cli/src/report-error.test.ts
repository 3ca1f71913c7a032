import { describe, expect, test } from 'bun:test';
import { GoondanError } from '@goondan/types';
import { reportError, reportTurnError } from './report-error.ts';
import { openTerminal } from './terminal.ts';

describe('reportError', () => {
  test('an error with a code: what is wrong, what to do, exit 1', () => {
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

  test('a turn that failed: exit 1, also with a code that would be an error of the set-up', () => {
    const terminal = openTerminal({ stdout: { write: () => undefined }, stderr: { write: () => undefined }, env: {} });
    expect(reportTurnError({ code: 'E_AGENT_UNKNOWN', message: 'Nobody.' }, terminal)).toBe(1);
    expect(reportTurnError({ code: 'E_CANCELLED', message: 'Cancelled.' }, terminal)).toBe(130);
  });

  test('a cancelled turn: exit 130', () => {
    expect(report(new GoondanError('E_CANCELLED', 'The turn was cancelled.')).code).toBe(130);
  });

  test('an error nobody foresaw: its stack, exit 1', () => {
    const { code, printed } = report(new TypeError('x is not a function'));
    expect(printed).toContain('TypeError: x is not a function');
    expect(printed).toContain('report-error.test.ts');
    expect(code).toBe(1);
  });

  test('anything else that was thrown', () => {
    expect(report('oops')).toEqual({ code: 1, printed: 'oops\n' });
  });
});

function report(error: unknown): { code: number; printed: string } {
  let printed = '';
  const stderr = { write: (text: string) => (printed += text) };
  const code = reportError(error, openTerminal({ stdout: { write: () => undefined }, stderr, env: {} }));
  return { code, printed };
}
