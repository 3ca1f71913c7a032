import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { hideValues } from './hide-values.ts';

function hide(values: readonly string[], chunks: readonly string[]): string {
  const hider = hideValues(values);
  return Buffer.concat([...chunks.map((chunk) => hider.push(Buffer.from(chunk))), hider.end()]).toString();
}

describe('a stream with hidden values', () => {
  test('comes without them, however it is split', () => {
    const secret = 'canary-12345';
    const text = `a ${secret} b ${secret}${secret} c`;
    for (let cut = 0; cut <= text.length; cut += 1) {
      expect(hide([secret], [text.slice(0, cut), text.slice(cut)])).toBe('a *** b ****** c');
    }
    expect(hide([secret], text.split(''))).toBe('a *** b ****** c');
  });

  test('the longer of two values is replaced as a whole', () => {
    expect(hide(['canary-1', 'canary-12345'], 'x canary-12345 y canary-1 z'.split(''))).toBe('x *** y *** z');
  });

  test('short values stay', () => {
    expect(hide(['abc', ''], ['abc'])).toBe('abc');
  });

  test('for any output in any chunks, exactly the values are replaced', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'b', 'b'), maxLength: 30 })), (chunks) => {
        expect(hide(['abababab', 'bbbbbbbbbbb'], chunks)).toBe(
          chunks.join('').replaceAll(/bbbbbbbbbbb|abababab/g, '***'),
        );
      }),
    );
  });
});
