import { describe, expect, test } from 'bun:test';
import type { JsonValue } from '@goondan/types';
import fc from 'fast-check';
import { copyJson, copyJsonObject, isPlainObject, NotJson } from './copy-json.ts';

describe('copyJson', () => {
  test('the copy of any JSON is equal to it and shares nothing with it', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const copied = copyJson(value);
        expect(JSON.stringify(copied)).toBe(JSON.stringify(value));
        expect(shared(value, copied)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  test('a frozen copy is frozen all the way down; the given value is not', () => {
    const given = { list: [{ deep: [1] }], plain: {} };
    expect(thawed(copyJson(given, { freeze: true }))).toEqual([]);
    expect(thawed(copyJson(given))).toEqual(['', '.list', '.list.0', '.list.0.deep', '.plain']);
    expect(thawed(given)).toEqual(['', '.list', '.list.0', '.list.0.deep', '.plain']);
  });

  test('any given value has a copy that survives text, or NotJson names the place that is not JSON', () => {
    const anything = fc.anything({ withNullPrototype: true, withDate: true, withBigInt: true, withMap: true });
    fc.assert(
      fc.property(anything, (value) => {
        try {
          const copied = copyJson(value, { omitUndefined: true });
          // Texts are compared, because -0 is the only number that JSON text does not preserve.
          expect(JSON.stringify(JSON.parse(JSON.stringify(copied)))).toBe(JSON.stringify(copied));
        } catch (error) {
          expect(error).toBeInstanceOf(NotJson);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('the same object in two places is not a cycle: it is copied twice', () => {
    const part = { n: 1 };
    const copied = copyJsonObject({ a: part, b: [part] });
    expect(copied).toEqual({ a: { n: 1 }, b: [{ n: 1 }] });
    expect(copied.a).not.toBe((copied.b as JsonValue[])[0]);
  });

  test('a property called __proto__ is a property, and changes no prototype', () => {
    const given = JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}') as unknown;
    const copied = copyJsonObject(given);
    expect(Object.keys(copied)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(copied)).toBe(Object.prototype);
    expect(JSON.stringify(copied)).toBe('{"__proto__":{"polluted":true},"constructor":1}');
  });

  test('undefined is rejected, or on request left out, in lists as null', () => {
    const given = { a: undefined, b: [undefined, 1] };
    expect(complaint(() => copyJson(given))).toBe('a is undefined, which JSON cannot represent');
    expect(complaint(() => copyJson(undefined, { omitUndefined: true }))).toStartWith('the value is undefined');
    expect(JSON.stringify(copyJson(given, { omitUndefined: true }))).toBe('{"b":[null,1]}');
    // The list has gaps, which differ from undefined items.
    expect(JSON.stringify(copyJson(Array(2), { omitUndefined: true }))).toBe('[null,null]');
  });

  test.each<[what: string, value: unknown, says: string]>([
    ['a function', { a: [{ b: () => 1 }] }, 'a[0].b is a function, which JSON cannot represent'],
    ['a symbol', [Symbol('s')], '[0] is a symbol, which JSON cannot represent'],
    ['a bigint', { n: 1n }, 'n is a bigint, which JSON cannot represent'],
    ['NaN', { n: Number.NaN }, 'n is NaN, which JSON cannot represent'],
    ['infinity', { n: [0, -Infinity] }, 'n[1] is -Infinity, which JSON cannot represent'],
    ['a date', { at: new Date() }, 'at is a Date, not a plain object'],
    ['a map', new Map(), 'the value is a Map, not a plain object'],
    ['an instance', { e: new NotJson('', '') }, 'e is a NotJson, not a plain object'],
  ])('%s is reported with its place', (_what, value, says) => {
    expect(complaint(() => copyJson(value))).toBe(says);
  });

  test('a cycle is reported with its place, through objects and lists', () => {
    const loop: { inside: unknown[] } = { inside: [] };
    loop.inside.push({ back: loop });
    expect(complaint(() => copyJson(loop))).toBe('inside[0].back is part of a cycle');
  });

  test('256 levels are copied, 257 are rejected, a million do not overflow the stack', () => {
    expect(complaint(() => copyJson(nested(257)))).toEndWith('is nested deeper than 256 levels');
    expect(complaint(() => copyJson(nested(1_000_000)))).toEndWith('is nested deeper than 256 levels');
    const path = `${'[0]'.repeat(8)}…${'[0]'.repeat(8)}`;
    expect(complaint(() => copyJson(nested(257)))).toBe(`${path} is nested deeper than 256 levels`);
    expect(JSON.stringify(copyJson(nested(256)))).toBe(`${'['.repeat(256)}${']'.repeat(256)}`);
  });
});

describe('copyJsonObject', () => {
  test.each<[what: string, value: unknown]>([
    ['an array', []],
    ['null', null],
    ['a string', 'text'],
    ['undefined', undefined],
    ['a Date', new Date()],
  ])('takes nothing but an object: not %s', (what, value) => {
    expect(complaint(() => copyJsonObject(value))).toBe(`the value is ${what}, not an object`);
  });
});

test('isPlainObject tells objects that JSON could have written from all others', () => {
  expect([{}, Object.create(null), JSON.parse('{}')].map(isPlainObject)).toEqual([true, true, true]);
  const others = [[], null, undefined, 'x', 1, () => 1, new Date(), new Map(), new NotJson('', ''), Object.create({})];
  expect(others.filter(isPlainObject)).toEqual([]);
});

function complaint(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof NotJson) return error.message;
    throw error;
  }
  throw new Error('nothing was refused');
}

function nested(levels: number): unknown[] {
  let value: unknown[] = [];
  for (let level = 1; level < levels; level++) value = [value];
  return value;
}

/** Lists the paths of objects that both values share. */
function shared(given: unknown, copied: unknown, path = ''): string[] {
  if (typeof given !== 'object' || given === null || typeof copied !== 'object' || copied === null) return [];
  const entries = Object.entries(given);
  const inside = entries.flatMap(([key, item]) => shared(item, Reflect.get(copied, key), `${path}.${key}`));
  return given === copied ? [path, ...inside] : inside;
}

/** Lists the paths of values that are not frozen. */
function thawed(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const inside = Object.entries(value).flatMap(([key, item]) => thawed(item, `${path}.${key}`));
  return Object.isFrozen(value) ? inside : [path, ...inside];
}
