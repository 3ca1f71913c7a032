import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { isSameJson } from './same-json.ts';

test('compares values by their JSON text', () => {
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom({ a: 1, b: [] }, { b: [], a: 1 }, [1], { 0: 1 }),
  );
  fc.assert(
    fc.property(value, value, (one, other) => {
      expect(isSameJson(one, other)).toBe(JSON.stringify(one) === JSON.stringify(other));
      expect(isSameJson(one, JSON.parse(JSON.stringify(one)))).toBe(true);
    }),
  );
});

test.each([
  [
    { a: 1, b: [] },
    { b: [], a: 1 },
  ],
  [{ a: 1 }, { a: 1, b: 2 }],
  [[1], { 0: 1 }],
  [{ 0: 1 }, [1]],
  [[1], [1, 2]],
  [[1, 2], [1]],
  [{}, null],
  [{ a: { b: 1 } }, { a: { b: 2 } }],
])('tells %j from %j', (one, other) => {
  expect(isSameJson(one, other)).toBe(false);
});
