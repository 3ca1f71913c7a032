import { describe, expect, test } from 'bun:test';
import { GoondanError } from '@goondan/types';
import { manualClock } from '../testing/index.ts';
import { type Bounds, withDeadline } from './with-deadline.ts';

const late = new GoondanError('E_TOOL_TIMEOUT', 'too slow');

function open() {
  const clock = manualClock();
  const controller = new AbortController();
  const bounds: Bounds = { clock, timeoutMs: 100, whenLate: () => late, signal: controller.signal };
  return { clock, controller, bounds };
}

/** Returns the result or the error as a value. */
async function outcome(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
}

describe('foreign code within bounds', () => {
  test('gives its value when it returns in time, and leaves no timer behind', async () => {
    const { clock, bounds } = open();
    expect(await withDeadline(bounds, () => 'sync')).toBe('sync');
    expect(await withDeadline(bounds, async () => 'async')).toBe('async');
    expect(clock.pending).toBe(0);
  });

  test('gives its error when it throws, sync or async', async () => {
    const { clock, bounds } = open();
    const error = new Error('broken');
    const sync = withDeadline(bounds, () => {
      throw error;
    });
    expect(await outcome(sync)).toEqual({ error });
    expect(await outcome(withDeadline(bounds, () => Promise.reject(error)))).toEqual({ error });
    expect(clock.pending).toBe(0);
  });

  test('gives the timeout error at once when it is late, and its signal has the same reason', async () => {
    const { clock, bounds } = open();
    const signals: AbortSignal[] = [];
    const waiting = outcome(withDeadline(bounds, (signal) => new Promise(() => signals.push(signal))));
    await clock.advance(99);
    expect(signals[0]?.aborted).toBe(false);
    await clock.advance(1);
    expect(await waiting).toEqual({ error: late });
    expect(signals[0]?.reason).toBe(late);
  });

  test('gives the reason at once when it is aborted, and so does its signal', async () => {
    const { clock, controller, bounds } = open();
    const reason = new GoondanError('E_CANCELLED', 'enough');
    const signals: AbortSignal[] = [];
    const waiting = outcome(withDeadline(bounds, (signal) => new Promise(() => signals.push(signal))));
    controller.abort(reason);
    expect(await waiting).toEqual({ error: reason });
    expect(signals[0]?.reason).toBe(reason);
    expect(clock.pending).toBe(0);
  });

  test('does not start when the signal is already aborted', async () => {
    const { controller, bounds } = open();
    controller.abort(new Error('before'));
    let begun = false;
    const never = withDeadline(bounds, () => {
      begun = true;
    });
    expect(await outcome(never)).toEqual({ error: new Error('before') });
    expect(begun).toBe(false);
  });

  test('gives its own error when it aborts and throws at once, and nothing is left unhandled', async () => {
    const { controller, bounds } = open();
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', note);
    const error = new Error('broken');
    const both = withDeadline(bounds, () => {
      controller.abort(new Error('aborted'));
      throw error;
    });
    expect(await outcome(both)).toEqual({ error });
    await Bun.sleep(1);
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });

  test('has no effect when it continues after its deadline', async () => {
    const { clock, bounds } = open();
    const action = Promise.withResolvers<string>();
    const waiting = outcome(withDeadline(bounds, () => action.promise));
    await clock.advance(100);
    action.reject(new Error('too late to matter'));
    expect(await waiting).toEqual({ error: late });
  });
});
