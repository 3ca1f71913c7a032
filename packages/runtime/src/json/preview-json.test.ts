import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { previewJson } from './preview-json.ts';

test('is the beginning of the JSON, and tells whether there is more', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(40), (value, longest) => {
      const whole = typeof value === 'string' ? value : JSON.stringify(value);
      const { text, isCut } = previewJson(value, longest);
      expect(isCut).toBe(whole.length > longest);
      expect(text.length).toBeLessThanOrEqual(longest);
      if (!isCut) expect(text).toBe(whole);
      // The last two characters are left out, because a string that is cut in the middle is closed at that place.
      else expect(whole.startsWith(text.slice(0, -2))).toBe(true);
    }),
  );
});

test('values that are not JSON are written anyway', () => {
  const self: unknown[] = [];
  self.push(self);
  expect(previewJson(self, 1_000).text).toContain('…');
  const strange = { a: undefined, b: () => 1, c: new Date(0), d: new Map() };
  expect(previewJson(strange, 100).text).toBe('{"b":null,"c":"1970-01-01T00:00:00.000Z","d":null}');
});

test('reads only the beginning of 10 MB', () => {
  let reads = 0;
  const items = new Proxy(Array(1_000_000).fill('x'), {
    get: (array, key) => {
      reads++;
      return Reflect.get(array, key) as unknown;
    },
  });
  expect(previewJson({ items }, 100)).toMatchObject({ isCut: true });
  expect(reads).toBeLessThan(1_000);
});
