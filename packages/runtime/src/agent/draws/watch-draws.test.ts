import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readRepository } from '../../../../../test/read-repository.ts';
import { systemClock } from '../../ports/clock.ts';
import { randomIds } from '../../ports/ids.ts';
import { type DrawKind, type DrawScope, inScope, outsideLayers } from '../../trace/draw-scope.ts';
import { watchDraws } from './watch-draws.ts';

const SystemDate = Date;
let unwatch: () => void;
beforeAll(() => {
  unwatch = watchDraws();
});
afterAll(() => unwatch());

/** A scope that serves fixed values and records the draws. */
function serving() {
  const drawn: DrawKind[] = [];
  const values = { now: 86_400_000, elapsed: 7, random: 0.5, uuid: 'a-uuid', bytes: '0102' } as const;
  const scope: DrawScope = {
    draw(kind) {
      drawn.push(kind);
      return values[kind];
    },
  };
  return { drawn, scope };
}

describe('draws of code in a scope', () => {
  test.each([
    ['Date.now()', () => Date.now(), 86_400_000, 'now'],
    ['new Date()', () => new Date().toISOString(), '1970-01-02T00:00:00.000Z', 'now'],
    ['Date()', () => Date(), new SystemDate(86_400_000).toString(), 'now'],
    ['of a class that extends Date', () => new (class Day extends Date {})().getTime(), 86_400_000, 'now'],
    ['performance.now()', () => performance.now(), 7, 'elapsed'],
    ['Math.random()', () => Math.random(), 0.5, 'random'],
    ['crypto.randomUUID()', () => crypto.randomUUID() as string, 'a-uuid', 'uuid'],
    ['crypto.getRandomValues()', () => [...crypto.getRandomValues(new Uint8Array(2))].join(), '1,2', 'bytes'],
  ] as const)('%s gives the value of the scope', (_, draw, value, kind) => {
    const { drawn, scope } = serving();
    expect(inScope(scope, (): unknown => draw())).toBe(value);
    expect(drawn).toEqual([kind]);
  });

  test('follow the code through every await', async () => {
    const { scope } = serving();
    const drawn = await inScope(scope, async () => {
      await Bun.sleep(1);
      return (async () => Date.now())();
    });
    expect(drawn).toBe(86_400_000);
  });

  test('a date with arguments is that date', () => {
    const { drawn, scope } = serving();
    expect(inScope(scope, () => new Date(0).getTime() + new Date(2_000, 0).getFullYear())).toBe(2_000);
    expect(drawn).toEqual([]);
  });
});

describe('outside of a scope', () => {
  test('every function gives its original values', () => {
    const before = SystemDate.now();
    expect(Date.now() - before).toBeLessThan(60_000);
    expect(new Date()).toBeInstanceOf(Date);
    expect(new Date().constructor).toBe(Date);
    expect(new SystemDate()).toBeInstanceOf(Date);
    expect(Date.parse('1970-01-01T00:00:00Z')).toBe(0);
    expect(crypto.randomUUID()).not.toBe(crypto.randomUUID());
    expect(structuredClone(new Date(5)).getTime()).toBe(5);
  });

  test('effects that run for a layer, and the clock and ids of the runtime, are not draws of the layer', () => {
    const { drawn, scope } = serving();
    inScope(scope, () => {
      systemClock.now();
      systemClock.elapsed();
      randomIds.next('call');
      outsideLayers(() => Date.now() + Math.random());
    });
    expect(drawn).toEqual([]);
  });
});

test('the runtime uses the original functions, so that its work for a layer does not count as a draw', () => {
  // These are all rooms whose code runs in an agent's process.
  const drawing = readRepository('packages/runtime/src/{agent,config,ipc,json,log,messages,trace,workspace}/**/*.ts')
    .filter(({ path }) => !/\.test\.ts$|\/agent\/draws\/|\/simulation\/|\/config\/bundle\//.test(path))
    .filter(({ text }) =>
      /new Date\(\)|Date\.now\(|Math\.random\(|performance\.now\(|crypto\.random|getRandomValues\(/.test(text),
    );
  expect(drawing.map(({ path }) => path)).toEqual([]);
});

test('watchDraws can be undone', () => {
  const undo = watchDraws();
  undo();
  unwatch();
  expect(Date).toBe(SystemDate);
  expect(new Date().constructor).toBe(SystemDate);
  unwatch = watchDraws();
});
