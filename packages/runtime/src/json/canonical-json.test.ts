import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { canonicalJson } from './canonical-json.ts';

test('the order of keys does not matter, the order of items does', () => {
  expect(canonicalJson({ b: [1, { d: null, c: 'x' }], a: true })).toBe('{"a":true,"b":[1,{"c":"x","d":null}]}');
  expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
});

test('is JSON of the same value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const plain = JSON.parse(JSON.stringify(value));
      expect(JSON.parse(canonicalJson(plain))).toEqual(plain);
    }),
  );
});
