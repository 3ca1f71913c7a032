import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '@goondan/types';
import fc from 'fast-check';
import { mergeConfig } from './merge-config.ts';

const jsonObject = fc.dictionary(fc.string(), fc.jsonValue()) as fc.Arbitrary<JsonObject>;

describe('a config over another', () => {
  test.each<[string, JsonObject, JsonObject, JsonObject]>([
    ['adds what is new', { a: 1 }, { b: 2 }, { a: 1, b: 2 }],
    ['replaces single values', { a: 1 }, { a: 'one' }, { a: 'one' }],
    ['replaces lists as a whole', { a: [1, 2, 3] }, { a: [4] }, { a: [4] }],
    [
      'merges objects deep',
      { a: { b: { c: 1, d: 2 }, e: 3 } },
      { a: { b: { c: 9 } } },
      { a: { b: { c: 9, d: 2 }, e: 3 } },
    ],
    ['replaces an object by a value', { a: { b: 1 } }, { a: null }, { a: null }],
    ['replaces a value by an object', { a: 1 }, { a: { b: 1 } }, { a: { b: 1 } }],
  ])('%s', (_title, under, over, merged) => {
    expect(mergeConfig(under, over)).toEqual(merged);
  });

  test('leaves both unchanged and shares nothing with them', () => {
    const under = { list: [1], deep: { kept: [1] } };
    const over = { deep: { added: [2] } };
    const merged = mergeConfig(under, over);
    expect(merged).toEqual({ list: [1], deep: { kept: [1], added: [2] } });
    expect(under).toEqual({ list: [1], deep: { kept: [1] } });
    under.list.push(9);
    under.deep.kept.push(9);
    over.deep.added.push(9);
    expect(merged).toEqual({ list: [1], deep: { kept: [1], added: [2] } });
  });

  test('a key named __proto__ is a key like any other', () => {
    // Only JSON.parse creates such a key.
    const over = JSON.parse('{"__proto__": {"isAdmin": true}}') as JsonObject;
    const merged = mergeConfig({ a: 1 }, over);
    expect(Object.keys(merged)).toEqual(['a', '__proto__']);
    expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
    expect(Reflect.get({}, 'isAdmin')).toBeUndefined();
  });

  test('a config merged with an empty one is unchanged', () => {
    fc.assert(
      fc.property(jsonObject, (config) => {
        expect(mergeConfig(config, {})).toEqual(config);
        expect(mergeConfig({}, config)).toEqual(config);
        expect(mergeConfig(config, config)).toEqual(config);
      }),
    );
  });
});
