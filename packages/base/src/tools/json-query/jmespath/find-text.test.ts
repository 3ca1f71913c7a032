import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { hasText } from './find-text.ts';

describe('D-25 the search for a text in json-query', () => {
  test('takes no longer for a long text that fits nearly everywhere', () => {
    const half = 'a'.repeat(25_000);
    const start = performance.now();
    expect(hasText('a'.repeat(100_000), `${half}b${half}`)).toBe(false);
    expect(performance.now() - start).toBeLessThan(500);
  });

  test('finds a text after its own beginning, however long that is', () => {
    const wanted = `${'aba'.repeat(100)}babb`;
    for (let length = 0; length < wanted.length; length++) {
      expect(hasText(`${wanted.slice(0, length)}${wanted}`, wanted)).toBe(true);
    }
  });

  test('finds what includes finds', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 3 });
    fc.assert(
      fc.property(letters, letters, letters, letters, (period, before, after, other) => {
        const wanted = `${period.repeat(200)}${other}${period.repeat(200)}`;
        for (const text of [
          `${before}${wanted}${after}`,
          `${before}${wanted.slice(1)}${wanted.slice(0, -1)}${after}`,
        ]) {
          expect(hasText(text, wanted)).toBe(text.includes(wanted));
        }
      }),
    );
  });
});
