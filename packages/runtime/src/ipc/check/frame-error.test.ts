import { expect, test } from 'bun:test';
import { GoondanError } from '@goondan/types';
import { frameError, toFrameError } from './frame-error.ts';

test('an error of another version, with a code that this catalogue lacks, gets the fallback code', () => {
  const newer = Object.assign(new GoondanError('E_CANCELLED', 'Stopped.', { suggestion: 'Wait.', retryable: true }), {
    code: 'E_OF_A_LATER_VERSION',
  });
  const told = toFrameError(newer, 'E_TOOL_FAILED');
  expect(told).toEqual({ code: 'E_TOOL_FAILED', message: 'Stopped.', suggestion: 'Wait.', retryable: true });
  // The other side of the channel accepts this error.
  expect(frameError(told)).toEqual(told);
});

test('the suggestion of the catalogue is not sent', () => {
  expect(toFrameError(new GoondanError('E_CANCELLED', 'Stopped.'), 'E_TOOL_FAILED')).toEqual({
    code: 'E_CANCELLED',
    message: 'Stopped.',
  });
});

test.each([NaN, Infinity, 1e300])('a wait of %p milliseconds, which is not one, is left out', (retryAfterMs) => {
  const told = toFrameError(new GoondanError('E_CANCELLED', 'Stopped.', { retryAfterMs }), 'E_TOOL_FAILED');
  expect(frameError(told)).toEqual({ code: 'E_CANCELLED', message: 'Stopped.' });
});
