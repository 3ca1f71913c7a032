import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type CutLine, LineCutter } from './line-cutter.ts';

const LONGEST = 10;

function cut(chunks: readonly Uint8Array[]): CutLine[] {
  const cutter = new LineCutter(LONGEST);
  return [...chunks.flatMap((chunk) => cutter.push(chunk)), ...cutter.end()];
}

describe('lines', () => {
  test('end with a line break of either kind, the last one also without', () => {
    expect(cut([Buffer.from('one\r\n\ntwo\nthree')])).toEqual([
      { text: 'one' },
      { text: '' },
      { text: 'two' },
      { text: 'three' },
    ]);
    expect(cut([])).toEqual([]);
  });

  test('are cut at the limit, with the number of characters that were cut off', () => {
    const long = `${'x'.repeat(25)}\ny\n`;
    expect(cut([Buffer.from(long)])).toEqual([{ text: 'x'.repeat(10), cutOff: 15 }, { text: 'y' }]);
    expect(cut(Array.from(Buffer.from(long), (byte) => Uint8Array.of(byte)))).toEqual(cut([Buffer.from(long)]));
  });

  test('do not depend on how the bytes were split', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'é', '🦆', '\n'), maxLength: 60 });
    fc.assert(
      fc.property(text, fc.array(fc.nat(), { maxLength: 10 }), (whole, cuts) => {
        const bytes = Buffer.from(whole);
        const ends = [...cuts.map((each) => each % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
        const chunks = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
        expect(cut(chunks)).toEqual(cut([bytes]));
      }),
    );
  });

  test('can be skipped and counted, and the next one is complete', () => {
    const cutter = new LineCutter(LONGEST);
    expect(cutter.push(Buffer.from('a\nb'))).toEqual([{ text: 'a' }]);
    expect(cutter.skip(Buffer.from('c'))).toBe(0);
    expect(cutter.skip(Buffer.from('d\ne\nf'))).toBe(2);
    expect(cutter.push(Buffer.from('g\n'))).toEqual([{ text: 'fg' }]);
    expect(cutter.end()).toEqual([]);
  });
});
