import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { GoondanError } from '@goondan/types';
import { systemClock } from '../../ports/clock.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { LayerContext } from './layer-context.ts';
import type { Layer } from './layer.ts';
import { type Chain, type LayerWarning, NotResult, runOnion } from './onion.ts';

interface Context {
  next(): Promise<string>;
}
type Run = (ctx: Context) => unknown;

class NothingShared extends LayerContext {}

function layer(extension: string, run: Run, options: Partial<Layer> = {}): Layer {
  return {
    kind: 'step',
    extension,
    name: 'named',
    tier: 'agent',
    priority: 0,
    // The cast is safe: the onion gives every layer a context with `next`.
    run: run as Layer['run'],
    mayShortCircuit: false,
    timeoutMs: undefined,
    onError: 'fail',
    buffers: false,
    ...options,
  };
}

/** Runs a chain whose results are texts. The core returns `core`. */
function onion(layers: readonly Layer[], more: Partial<Chain<string>> = {}) {
  const warnings: LayerWarning[] = [];
  const counted = { coreRuns: 0 };
  const { core = async () => 'core' } = more;
  const result = runOnion<string>({
    kind: 'step',
    layers,
    contextFor: (asking, next) => new NothingShared(asking, next),
    read(value) {
      if (typeof value !== 'string') throw new NotResult('it is no text');
      return value;
    },
    clock: systemClock,
    warn: (warning) => warnings.push(warning),
    ...more,
    core: () => {
      counted.coreRuns++;
      return core();
    },
  });
  return { result, warnings, counted };
}

/** Returns the error that a promise was rejected with. */
const thrownBy = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable('it should have been rejected'),
    (error: unknown) => error,
  );
const macrotask = () => new Promise((resolve) => void setTimeout(resolve, 0));

describe('the onion', () => {
  test('P-03 runs outer pre, inner pre, core, inner post, outer post, for any number of layers', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 12 }), async (depth) => {
        const seen: string[] = [];
        const layers = Array.from({ length: depth }, (_, index) =>
          layer(`e${index}`, async (ctx) => {
            seen.push(`pre ${index}`);
            const result = await ctx.next();
            seen.push(`post ${index}`);
            return result;
          }),
        );
        const core = async () => `${seen.push('core')}`;
        await onion(layers, { core }).result;
        const indexes = [...layers.keys()];
        expect(seen).toEqual([
          ...indexes.map((index) => `pre ${index}`),
          'core',
          ...indexes.toReversed().map((index) => `post ${index}`),
        ]);
      }),
    );
  });

  test('P-09 a layer sees the result as the layer inside it changed it', async () => {
    const wrap =
      (mark: string): Run =>
      async (ctx) =>
        `${mark}(${await ctx.next()})`;
    expect(await onion([layer('a', wrap('a')), layer('b', wrap('b'))]).result).toBe('a(b(core))');
  });

  test('P-01 a layer may return the promise of next() instead of awaiting it', async () => {
    const { result, warnings } = onion([layer('a', (ctx) => ctx.next())]);
    expect(await result).toBe('core');
    expect(warnings).toEqual([]);
  });
});

describe('next() is called exactly once', () => {
  const again: Record<string, Run> = {
    'and the second refusal is let through': async (ctx) => {
      await ctx.next();
      return ctx.next();
    },
    'and the second refusal is swallowed': async (ctx) => {
      const result = await ctx.next();
      await ctx.next().catch(() => undefined);
      return result;
    },
    'without waiting for the second': async (ctx) => {
      const result = await ctx.next();
      void ctx.next();
      return result;
    },
    'both at once': async (ctx) => (await Promise.all([ctx.next(), ctx.next()]))[0],
    'three times, all settled': async (ctx) => {
      await Promise.allSettled([ctx.next(), ctx.next(), ctx.next()]);
      return 'own';
    },
  };
  test.each(Object.entries(again))('P-10 called twice, %s: E_NEXT_TWICE, one core run', async (_, run) => {
    const { result, counted } = onion([layer('outer', (ctx) => ctx.next()), layer('greedy', run)]);
    const error = await thrownBy(result);
    expect(error).toBeInstanceOf(GoondanError);
    expect(error).toMatchObject({ code: 'E_NEXT_TWICE', extensionName: 'greedy' });
    expect(String(error)).toContain('step layer "named" of extension "greedy"');
    // At this point an unhandled rejection would have been reported to the process.
    await macrotask();
    expect(counted.coreRuns).toBe(1);
  });

  test('P-10 the second call itself is rejected with the code', async () => {
    const greedy: Run = async (ctx) => {
      await ctx.next();
      expect(await thrownBy(ctx.next())).toMatchObject({ code: 'E_NEXT_TWICE' });
      throw new Error('seen');
    };
    expect(await thrownBy(onion([layer('greedy', greedy)]).result)).toHaveProperty('message', 'seen');
  });

  test('P-10 a call after the layer returned is rejected as late, logs a warning, and runs nothing', async () => {
    let held: Context | undefined;
    const forgetful: Run = async (ctx) => {
      held = ctx;
      return 'own';
    };
    const { result, counted, warnings } = onion([layer('forgetful', forgetful, { mayShortCircuit: true })]);
    expect(await result).toBe('own');
    expect(warnings).toEqual([]);
    // The promise is dropped on purpose: its rejection must not end the process.
    void held?.next();
    expect(await thrownBy(held?.next() ?? Promise.resolve())).toMatchObject({ code: 'E_NEXT_LATE' });
    await macrotask();
    expect(counted.coreRuns).toBe(0);
    expect(warnings.map(({ event, layer: { extension } }) => [event, extension])).toEqual([
      ['middleware.next_late', 'forgetful'],
      ['middleware.next_late', 'forgetful'],
    ]);
  });

  test('P-10 a layer that returns before next() is finished: the runtime waits for the inside, then fails with E_NEXT_NOT_AWAITED', async () => {
    const core = Promise.withResolvers<string>();
    const hasty: Run = async (ctx) => {
      void ctx.next();
      return 'own';
    };
    const { result, counted } = onion([layer('hasty', hasty)], { core: () => core.promise });
    let settled = false;
    const error = thrownBy(result).finally(() => (settled = true));
    await macrotask();
    expect(settled).toBe(false);
    core.resolve('core');
    expect(await error).toMatchObject({ code: 'E_NEXT_NOT_AWAITED', extensionName: 'hasty' });
    expect(counted.coreRuns).toBe(1);
  });

  test.each([undefined, 1_000])(
    'P-10 a missing await is detected even if the inside is fast (timeoutMs %p)',
    async (timeoutMs) => {
      const hasty: Run = (ctx) => {
        void ctx.next();
        return 'own';
      };
      const gate = layer('gate', () => 'gate', { mayShortCircuit: true });
      const error = await thrownBy(onion([layer('hasty', hasty, { timeoutMs }), gate]).result);
      expect(error).toMatchObject({ code: 'E_NEXT_NOT_AWAITED', extensionName: 'hasty' });
    },
  );

  test('P-10 a thenable made by the author may wait for next() too', async () => {
    const roundabout: Run = (ctx) => {
      const inner = ctx.next();
      // oxlint-disable-next-line unicorn/no-thenable -- that is what is tested
      return { then: (resolve: (value: unknown) => void) => void inner.then(resolve) };
    };
    expect(await onion([layer('roundabout', roundabout)]).result).toBe('core');
  });

  test('P-10 when a layer throws while next() runs, the chain is rejected only after everything inside has ended', async () => {
    const core = Promise.withResolvers<string>();
    const boom = new Error('boom');
    const hasty: Run = async (ctx) => {
      void ctx.next();
      throw boom;
    };
    const { result } = onion([layer('hasty', hasty)], { core: () => core.promise });
    let settled = false;
    const error = thrownBy(result).finally(() => (settled = true));
    await macrotask();
    expect(settled).toBe(false);
    core.reject(new Error('inner'));
    expect(await error).toBe(boom);
  });

  test('P-10 an inner failure that the layer did not wait for does not end the process', async () => {
    const careless: Run = async (ctx) => {
      void ctx.next();
      await macrotask();
      return 'own';
    };
    const core = () => Promise.reject(new Error('inner'));
    expect(await onion([layer('careless', careless)], { core }).result).toBe('own');
    await macrotask();
  });
});

describe('a layer that never calls next()', () => {
  test('P-11 skips everything inside; its own result is used; a warning names the extension', async () => {
    let innerRan = false;
    const inner = layer('inner', (ctx) => {
      innerRan = true;
      return ctx.next();
    });
    const { result, warnings, counted } = onion([layer('gate', async () => 'own'), inner]);
    expect(await result).toBe('own');
    expect(innerRan).toBe(false);
    expect(counted.coreRuns).toBe(0);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatchObject({ event: 'middleware.short_circuit', layer: { extension: 'gate' } });
    expect(warnings[0]?.message).toContain('extension "gate"');
  });

  test('P-11 is not warned about when it has mayShortCircuit', async () => {
    const { result, warnings } = onion([layer('gate', async () => 'own', { mayShortCircuit: true })]);
    expect(await result).toBe('own');
    expect(warnings).toEqual([]);
  });

  test('P-11 must still return a result: another shape is E_MIDDLEWARE_RESULT', async () => {
    const { result, warnings } = onion([layer('gate', async () => 42, { mayShortCircuit: true })]);
    expect(await thrownBy(result)).toMatchObject({ code: 'E_MIDDLEWARE_RESULT', extensionName: 'gate' });
    expect(warnings).toEqual([]);
  });
});

describe('an exception', () => {
  test('P-12 while a result is read is an error of its layer, which may be skipped', async () => {
    const hostile = new Proxy({}, { getPrototypeOf: () => expect.unreachable() });
    const outer = layer('outer', async (ctx) => ctx.next().catch((error: unknown) => Promise.reject(error)));
    for (const [thrown, problem] of [
      [new NotResult('it is no text'), 'step result: it is no text'],
      [new Error('a getter throws'), 'step result: it cannot be read: a getter throws'],
      [hostile, 'step result: it cannot be read: '],
    ] as const) {
      const read = (value: unknown) => {
        if (typeof value === 'string') return value;
        // The cast is needed because code of a layer may throw anything.
        throw thrown as Error;
      };
      const odd = (onError: 'fail' | 'skip') => layer('odd', async (ctx) => (await ctx.next(), {}), { onError });
      expect(await onion([outer, odd('skip')], { read }).result).toBe('core');
      const mistake = { code: 'E_MIDDLEWARE_RESULT', extensionName: 'odd', message: expect.stringContaining(problem) };
      expect(await thrownBy(onion([outer, odd('fail')], { read }).result)).toMatchObject(mistake);
    }
  });

  test('P-12 unwinds through catch and finally from the inside out, as the same object, with its extension’s name', async () => {
    const boom = Object.assign(new Error('boom'), { retryable: true });
    const seen: string[] = [];
    const watching = (name: string) =>
      layer(name, async (ctx) => {
        try {
          return await ctx.next();
        } catch (error) {
          seen.push(`${name} caught ${error === boom ? 'it' : 'another'}`);
          throw error;
        } finally {
          seen.push(`${name} finally`);
        }
      });
    const thrower = layer('thrower', () => {
      throw boom;
    });
    const { result, counted } = onion([watching('a'), watching('b'), thrower]);
    expect(await thrownBy(result)).toBe(boom);
    expect(seen).toEqual(['b caught it', 'b finally', 'a caught it', 'a finally']);
    expect(boom).toHaveProperty('extensionName', 'thrower');
    expect(counted.coreRuns).toBe(0);
  });

  test('P-12 thrown by the core gets no extension’s name', async () => {
    const boom = new Error('core');
    const { result } = onion([layer('a', (ctx) => ctx.next())], { core: () => Promise.reject(boom) });
    expect(await thrownBy(result)).toBe(boom);
    expect(boom).not.toHaveProperty('extensionName');
  });

  test('P-12 thrown by a layer in place of the inner one gets that layer’s extension', async () => {
    const other = new Error('other');
    const swap: Run = (ctx) => ctx.next().catch(() => Promise.reject(other));
    const core = () => Promise.reject(new Error('core'));
    expect(await thrownBy(onion([layer('swap', swap)], { core }).result)).toBe(other);
    expect(other).toHaveProperty('extensionName', 'swap');
  });

  test('P-12 may be turned into a result by an outer layer', async () => {
    const recover: Run = (ctx) => ctx.next().catch(() => 'recovered');
    const core = () => Promise.reject(new Error('core'));
    expect(await onion([layer('recover', recover)], { core }).result).toBe('recovered');
  });
});

describe("onError: 'skip'", () => {
  const skip = { onError: 'skip' } as const;
  const boom = new Error('boom');

  test('before next(): the chain continues as if the layer were absent, and the skip is recorded', async () => {
    const thrower = layer('thrower', () => Promise.reject(boom), skip);
    const { result, warnings, counted } = onion([thrower, layer('inner', (ctx) => ctx.next())]);
    expect(await result).toBe('core');
    expect(counted.coreRuns).toBe(1);
    expect(warnings.map(({ event, layer: { extension } }) => [event, extension])).toEqual([
      ['middleware.skipped', 'thrower'],
    ]);
    expect(warnings[0]?.message).toContain('boom');
  });

  const afterNext: Record<string, Run> = {
    throws: async (ctx) => {
      await ctx.next();
      throw boom;
    },
    'calls it twice': async (ctx) => {
      await ctx.next();
      return ctx.next();
    },
    'does not wait': async (ctx) => {
      void ctx.next();
      return 'own';
    },
    'returns another shape': async (ctx) => {
      await ctx.next();
      return 42;
    },
  };
  test.each(Object.entries(afterNext))('after next(), when it %s: the inner result is kept', async (_, run) => {
    const { result, warnings, counted } = onion([layer('faulty', run, skip)]);
    expect(await result).toBe('core');
    expect(counted.coreRuns).toBe(1);
    expect(warnings.map(({ event }) => event)).toEqual(['middleware.skipped']);
  });

  test('a core that throws at once has run once, and its error came from inside', async () => {
    const core = () => {
      throw new Error('broken');
    };
    const { result, counted, warnings } = onion([layer('a', (ctx) => ctx.next(), { onError: 'skip' })], { core });
    expect(await thrownBy(result)).toMatchObject({ message: 'broken' });
    expect({ ...counted, warnings: warnings.length }).toEqual({ coreRuns: 1, warnings: 0 });
  });

  test('does not skip an error that came from inside', async () => {
    const core = () => Promise.reject(boom);
    const { result, warnings } = onion([layer('a', (ctx) => ctx.next(), skip)], { core });
    expect(await thrownBy(result)).toBe(boom);
    expect(warnings).toEqual([]);
  });
});

describe('timeoutMs', () => {
  test('counts only the layer’s own time: the inside may take any time', async () => {
    const clock = manualClock();
    const core = () => new Promise<string>((resolve) => void clock.after(5_000, () => resolve('core')));
    const { result } = onion([layer('quick', (ctx) => ctx.next(), { timeoutMs: 10 })], { core, clock });
    await clock.advance(5_000);
    expect(await result).toBe('core');
    expect(clock.pending).toBe(0);
  });

  test('adds up the time before and after next()', async () => {
    const clock = manualClock();
    const wait = (ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve));
    const slow: Run = async (ctx) => {
      await wait(6);
      const result = await ctx.next();
      await wait(6);
      return result;
    };
    const error = thrownBy(onion([layer('slow', slow, { timeoutMs: 10 })], { clock }).result);
    await clock.advance(12);
    expect(await error).toMatchObject({ code: 'E_MIDDLEWARE_TIMEOUT', extensionName: 'slow' });
    const enough = onion([layer('slow', slow, { timeoutMs: 13 })], { clock }).result;
    await clock.advance(12);
    expect(await enough).toBe('core');
  });

  test('a layer that continues after its timeout cannot run the core', async () => {
    const clock = manualClock();
    const awake = Promise.withResolvers<void>();
    const late = Promise.withResolvers<unknown>();
    const sleepy: Run = async (ctx) => {
      await awake.promise;
      await ctx.next().catch(late.resolve);
      return 'own';
    };
    const { result, counted } = onion([layer('sleepy', sleepy, { timeoutMs: 5 })], { clock });
    const error = thrownBy(result);
    await clock.advance(5);
    expect(await error).toMatchObject({ code: 'E_MIDDLEWARE_TIMEOUT' });
    awake.resolve();
    expect(await late.promise).toMatchObject({ code: 'E_NEXT_LATE' });
    expect(counted.coreRuns).toBe(0);
  });
});
