import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { GoondanError } from '@goondan/types';
import { defaultPolicy } from '../../config/turn-policy.ts';
import { planRetry } from './plan-retry.ts';

const busy = Object.assign(new Error('busy'), { retryable: true });
const waits = (error: unknown, policy = defaultPolicy) =>
  [1, 2, 3, 4, 5, 6, 7].map((failures) => planRetry(error, failures, policy)?.delayMs);

describe('planRetry', () => {
  test('P-13 retries only errors that are retryable', () => {
    expect(planRetry(busy, 1, defaultPolicy)).toEqual({ delayMs: 1_000 });
    expect(planRetry({ retryable: true }, 1, defaultPolicy)).toEqual({ delayMs: 1_000 });
    for (const error of [new Error('no'), { retryable: 'true' }, 'busy', undefined]) {
      expect(planRetry(error, 1, defaultPolicy)).toBeUndefined();
    }
  });

  test('B-08 retries three times by default, and doubles the wait each time', () => {
    expect(waits(busy)).toEqual([1_000, 2_000, 4_000, undefined, undefined, undefined, undefined]);
  });

  test('B-08 keeps the policy’s number of retries and its longest wait', () => {
    const policy = { ...defaultPolicy, maxStepRetries: 6, retryBaseMs: 10, retryMaxMs: 45 };
    expect(waits(busy, policy)).toEqual([10, 20, 40, 45, 45, 45, undefined]);
    expect(waits(busy, { ...policy, maxStepRetries: 0 })).toEqual(Array(7).fill(undefined));
  });

  test('L-06 uses the wait that an error asks for', () => {
    const error = new GoondanError('E_MODEL_FAILED', 'busy', { retryable: true, retryAfterMs: 70_000 });
    expect(waits(error)).toEqual([70_000, 70_000, 70_000, undefined, undefined, undefined, undefined]);
    expect(planRetry(Object.assign(new Error('now'), { retryable: true, retryAfterMs: 0 }), 3, defaultPolicy)).toEqual({
      delayMs: 0,
    });
  });

  test('Y-06 makes a fallback at once and does not count it, 16 times in a row at most', () => {
    const error = new GoondanError('E_MODEL_FAILED', 'busy', {
      retryable: true,
      retryAfterMs: 70_000,
      isFallback: true,
    });
    const policy = { ...defaultPolicy, maxStepRetries: 0 };
    expect(planRetry(error, 1, policy, 15)).toEqual({ delayMs: 0, isFallback: true });
    expect(planRetry(error, 1, policy, 16)).toBeUndefined();
    expect(planRetry(error, 1, defaultPolicy, 16)).toEqual({ delayMs: 70_000 });
    expect(planRetry({ isFallback: true }, 1, defaultPolicy)).toBeUndefined();
  });

  test('ignores an invalid wait; the delay is always a finite number', () => {
    const policy = { ...defaultPolicy, maxStepRetries: 5_000 };
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5_000 }), fc.anything(), (failures, retryAfterMs) => {
        const { delayMs } = planRetry({ retryable: true, retryAfterMs }, failures, policy) ?? { delayMs: -1 };
        expect(Number.isFinite(delayMs) && delayMs >= 0).toBe(true);
      }),
    );
    expect(planRetry({ retryable: true, retryAfterMs: -5 }, 1, policy)).toEqual({ delayMs: 1_000 });
  });
});
