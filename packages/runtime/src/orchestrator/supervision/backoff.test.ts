import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { afterCrash, afterHealthy, backoffMs, defaultRestartPolicy, noCrashes } from './backoff.ts';
import type { RestartPolicy } from '../../config/swarm-policy.ts';

const crashTimes = (count: number, policy: RestartPolicy = defaultRestartPolicy) =>
  Array.from({ length: count }).reduce<typeof noCrashes>((history) => afterCrash(history, policy, 0), noCrashes);

describe('the backoff', () => {
  test('R-03 the first four crashes cost no wait, the fifth 1 s, then it doubles up to 5 min', () => {
    const waits = Array.from({ length: 16 }, (_, index) => backoffMs(index + 1, defaultRestartPolicy));
    expect(waits).toEqual([
      0, 0, 0, 0, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000, 300_000, 300_000,
    ]);
  });

  test('its four numbers are settings', () => {
    const policy = { quickCrashes: 1, baseMs: 7, maxMs: 20, healthyMs: 1 };
    expect([1, 2, 3, 4].map((crashes) => backoffMs(crashes, policy))).toEqual([7, 14, 20, 20]);
    expect(backoffMs(1, { ...policy, quickCrashes: 0 })).toBe(7);
    expect(backoffMs(10_000, { ...policy, baseMs: 0 })).toBe(0);
    expect(backoffMs(10_000, policy)).toBe(20);
  });

  test('R-03 counts from the crash on', () => {
    expect(afterCrash(crashTimes(4), defaultRestartPolicy, 50)).toEqual({
      crashes: 5,
      healthyMs: 0,
      notBefore: 1_050,
    });
  });

  test('R-03 ten healthy minutes reset the count, a millisecond less does not', () => {
    expect(afterHealthy(crashTimes(9), defaultRestartPolicy, 600_000)).toEqual(noCrashes);
    expect(afterHealthy(crashTimes(9), defaultRestartPolicy, 599_999).crashes).toBe(9);
  });

  test('R-03 healthy time adds up over hibernations, and starts again with a crash', () => {
    const half = afterHealthy(crashTimes(6), defaultRestartPolicy, 300_000);
    expect(afterHealthy(half, defaultRestartPolicy, 300_000)).toEqual(noCrashes);
    const crashed = afterCrash(half, defaultRestartPolicy, 0);
    expect(afterHealthy(crashed, defaultRestartPolicy, 300_000).crashes).toBe(7);
  });

  test('R-03 any window of healthyMs has fewer than quickCrashes restarts without a wait', () => {
    const policies = fc.record({
      quickCrashes: fc.integer({ min: 1, max: 6 }),
      baseMs: fc.integer({ min: 1, max: 50 }),
      maxMs: fc.integer({ min: 50, max: 400 }),
      healthyMs: fc.integer({ min: 10, max: 500 }),
    });
    const lives = fc.array(fc.record({ healthy: fc.nat(600), hibernates: fc.boolean(), absent: fc.nat(100) }), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(policies, lives, (policy, processes) => {
        let now = 0;
        let history = noCrashes;
        const free: number[] = [];
        for (const { healthy, hibernates, absent } of processes) {
          expect(now).toBeGreaterThanOrEqual(history.notBefore);
          now += healthy;
          history = afterHealthy(history, policy, healthy);
          if (hibernates) {
            now += absent;
            continue;
          }
          history = afterCrash(history, policy, now);
          expect(history.notBefore - now).toBe(backoffMs(history.crashes, policy));
          if (history.notBefore === now) free.push(now);
          now = history.notBefore;
        }
        for (const start of free) {
          const inWindow = free.filter((time) => time >= start && time < start + policy.healthyMs);
          expect(inWindow.length).toBeLessThan(policy.quickCrashes);
        }
      }),
      { numRuns: 500 },
    );
  });
});
