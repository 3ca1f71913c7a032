import { describe, expect, test } from 'bun:test';
import { GoondanError } from '@goondan/types';
import { manualClock } from '../testing/index.ts';
import { listenTo, withDeadline } from './with-deadline.ts';

const late = new GoondanError('E_TOOL_TIMEOUT', 'too slow');

function open() {
  const clock = manualClock();
  const controller = new AbortController();
  const turn = { clock, signal: controller.signal, onAbort: listenTo(controller.signal) };
  const run = (action: Parameters<typeof withDeadline>[3]) => withDeadline(turn, 100, () => late, action);
  return { clock, controller, run };
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
    const { clock, run } = open();
    expect(await run(() => 'sync')).toBe('sync');
    expect(await run(async () => 'async')).toBe('async');
    expect(clock.pending).toBe(0);
  });

  test('gives its error when it throws, sync or async', async () => {
    const { clock, run } = open();
    const error = new Error('broken');
    const sync = run(() => {
      throw error;
    });
    expect(await outcome(sync)).toEqual({ error });
    expect(await outcome(run(() => Promise.reject(error)))).toEqual({ error });
    expect(clock.pending).toBe(0);
  });

  test('gives the timeout error at once when it is late, and its signal has the same reason', async () => {
    const { clock, run } = open();
    const signals: AbortSignal[] = [];
    const waiting = outcome(run(({ signal }) => new Promise(() => signals.push(signal))));
    await clock.advance(99);
    expect(signals[0]?.aborted).toBe(false);
    await clock.advance(1);
    expect(await waiting).toEqual({ error: late });
    expect(signals[0]?.reason).toBe(late);
  });

  test('gives the reason at once when it is aborted, and so does its signal', async () => {
    const { clock, controller, run } = open();
    const reason = new GoondanError('E_CANCELLED', 'enough');
    const signals: AbortSignal[] = [];
    const waiting = outcome(run(({ signal }) => new Promise(() => signals.push(signal))));
    controller.abort(reason);
    expect(await waiting).toEqual({ error: reason });
    expect(signals[0]?.reason).toBe(reason);
    expect(clock.pending).toBe(0);
  });

  test('does not start when the signal is already aborted', async () => {
    const { controller, run } = open();
    controller.abort(new Error('before'));
    let begun = false;
    const never = run(() => {
      begun = true;
    });
    expect(await outcome(never)).toEqual({ error: new Error('before') });
    expect(begun).toBe(false);
  });

  test('gives its own error when it aborts and throws at once, and nothing is left unhandled', async () => {
    const { controller, run } = open();
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', note);
    const error = new Error('broken');
    const both = run(() => {
      controller.abort(new Error('aborted'));
      throw error;
    });
    expect(await outcome(both)).toEqual({ error });
    await Bun.sleep(1);
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });

  test('has no effect when it continues after its deadline', async () => {
    const { clock, run } = open();
    const action = Promise.withResolvers<string>();
    const waiting = outcome(run(() => action.promise));
    await clock.advance(100);
    action.reject(new Error('too late to matter'));
    expect(await waiting).toEqual({ error: late });
  });
});
