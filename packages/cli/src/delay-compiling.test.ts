import { afterEach, describe, expect, spyOn, test } from 'bun:test';
import { delayCompiling as delayInRuntime } from '../../runtime/src/ports/delay-compiling.ts';
import { delayCompiling } from './delay-compiling.ts';

const { setJITPolicy } = Bun.unsafe;
afterEach(() => {
  Bun.unsafe.setJITPolicy = setJITPolicy;
});

describe.each([
  ['of gdn', delayCompiling],
  ['of the runtime', delayInRuntime],
])('a program %s', (_, delay) => {
  test('compiles late at its start and as usual two seconds later, and may end before that', () => {
    const scales: number[] = [];
    Bun.unsafe.setJITPolicy = (scale) => void scales.push(scale);
    const { keepsAlive, ring } = catchTimer(delay);
    expect(scales).toEqual([20]);
    expect(keepsAlive).toBe(false);
    ring();
    expect(scales).toEqual([20, 1]);
  });

  test('starts on a Bun that cannot compile late', () => {
    Reflect.deleteProperty(Bun.unsafe, 'setJITPolicy');
    const { ring } = catchTimer(delay);
    expect(ring).not.toThrow();
  });
});

/**
 * Stops the only timer that `start` sets, which must be for two seconds. Returns whether the timer kept the process
 * alive, and a function that does its work now.
 */
function catchTimer(start: () => void): { keepsAlive: boolean; ring: () => void } {
  using setTimer = spyOn(globalThis, 'setTimeout');
  start();
  const [[ring, delayMs] = [], ...others] = setTimer.mock.calls;
  expect([delayMs, others]).toEqual([2_000, []]);
  // The cast is safe: it is a result of `setTimeout`.
  const timer = setTimer.mock.results[0]?.value as NodeJS.Timeout;
  const keepsAlive = timer.hasRef();
  clearTimeout(timer);
  return { keepsAlive, ring: () => ring?.() };
}
