import { describe, expect, test } from 'bun:test';
import { GoondanError } from '../errors/goondan-error.ts';
import { headersOf, sharedStatuses, statusOfCode } from './refusal.ts';

describe('the status of an error', () => {
  test.each(['constructor', '__proto__', 'toString', 'E_OF_A_TOOL', undefined])(
    'of the code %p, which is in no table, is 500',
    (code) => {
      expect(statusOfCode(code, sharedStatuses)).toBe(500);
    },
  );

  test.each([
    [undefined, '1'],
    [2_500, '3'],
    [NaN, '1'],
    [Infinity, '1'],
    [1e300, '86400'],
  ])('with a wait of %p milliseconds asks to retry after %s seconds', (retryAfterMs, seconds) => {
    for (const code of ['E_INBOX_FULL', 'E_AGENT_START'] as const) {
      const error = new GoondanError(code, 'Full.', retryAfterMs === undefined ? {} : { retryAfterMs });
      expect(headersOf(error, sharedStatuses)).toEqual({ 'Retry-After': seconds });
    }
  });
});
