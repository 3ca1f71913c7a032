import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { usedMs } from '../../../../../test/used-ms.ts';
import { FrameSplitter } from './frame-splitter.ts';

const LONGEST = 20;

/** Returns everything that a splitter reports about these chunks, with the frames as text. */
function split(chunks: readonly Uint8Array[], longest = LONGEST): string[] {
  const splitter = new FrameSplitter(longest);
  const said: string[] = [];
  for (const chunk of chunks) {
    splitter.push(chunk);
    for (let next = splitter.next(); next !== undefined; next = splitter.next()) {
      if (typeof next === 'string') return [...said, next];
      said.push(Buffer.from(next).toString());
    }
  }
  return said;
}

function cutAt(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
  return ends.map((end, index) => bytes.slice(ends[index - 1] ?? 0, end));
}

describe('frames', () => {
  test('are lines', () => {
    expect(split([Buffer.from('{"a":1}\n\n{"b":2}\n{"c"')])).toEqual(['{"a":1}', '', '{"b":2}']);
  });

  test('do not depend on how the bytes were split, and end at the first long one', () => {
    const lines = fc.array(fc.string({ unit: fc.constantFrom('a', 'é', '🦆'), maxLength: 12 }), { maxLength: 12 });
    fc.assert(
      fc.property(lines, fc.array(fc.nat(), { maxLength: 20 }), (texts, cuts) => {
        const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(''));
        const long = texts.findIndex((text) => Buffer.byteLength(text) > LONGEST);
        expect(split(cutAt(bytes, cuts))).toEqual(long < 0 ? texts : [...texts.slice(0, long), 'too long']);
      }),
      { numRuns: 500 },
    );
  });

  test('pass at exactly the limit, and not with one byte more', () => {
    const fits = `${'x'.repeat(LONGEST)}\n`;
    expect(split([Buffer.from(`${fits}x${fits}`)])).toEqual([fits.trim(), 'too long']);
    expect(split([Buffer.from(fits.slice(0, 5)), Buffer.from(fits.slice(5))])).toEqual([fits.trim()]);
  });

  test('cost no more than their bytes when they come byte by byte', () => {
    const splitter = new FrameSplitter(1_000_000);
    const startedAt = usedMs();
    for (let byte = 0; byte < 1_000_000; byte++) {
      splitter.push(Uint8Array.of(120));
      splitter.next();
    }
    splitter.push(Uint8Array.of(10));
    expect(splitter.next()?.length).toBe(1_000_000);
    // If the splitter copied half a megabyte for each of a million chunks, this would take minutes.
    expect(usedMs() - startedAt).toBeLessThan(3_000);
  });
});
