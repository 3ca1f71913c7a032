import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { usedMs } from '../../../../../test/used-ms.ts';
import { FrameSplitter } from './frame-splitter.ts';

const LONGEST = 20;

/** Returns everything that a splitter reports about these chunks, with the frames as text. */
function split(chunks: readonly Uint8Array[], longest = LONGEST): string[] {
  const splitter = new FrameSplitter(longest);
  return chunks.flatMap((chunk) => {
    splitter.push(chunk);
    const said: string[] = [];
    for (let next = splitter.next(); next !== undefined; next = splitter.next()) {
      said.push(typeof next === 'string' ? next : Buffer.from(next).toString());
    }
    return said;
  });
}

function cutAt(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
  return ends.map((end, index) => bytes.slice(ends[index - 1] ?? 0, end));
}

describe('frames', () => {
  test('are lines', () => {
    expect(split([Buffer.from('{"a":1}\n\n{"b":2}\n{"c"')])).toEqual(['{"a":1}', '', '{"b":2}']);
  });

  test('do not depend on how the bytes were split; a long one costs only itself', () => {
    const lines = fc.array(fc.string({ unit: fc.constantFrom('a', 'é', '🦆'), maxLength: 12 }), { maxLength: 12 });
    fc.assert(
      fc.property(lines, fc.array(fc.nat(), { maxLength: 20 }), (texts, cuts) => {
        const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(''));
        const wanted = texts.map((text) => (Buffer.byteLength(text) > LONGEST ? 'too long' : text));
        expect(split(cutAt(bytes, cuts))).toEqual(wanted);
      }),
      { numRuns: 500 },
    );
  });

  test('pass at exactly the limit, and not with one byte more', () => {
    const fits = `${'x'.repeat(LONGEST)}\n`;
    expect(split([Buffer.from(`${fits}x${fits}`)])).toEqual([fits.trim(), 'too long']);
    expect(split([Buffer.from(fits.slice(0, 5)), Buffer.from(fits.slice(5))])).toEqual([fits.trim()]);
  });

  test('without an end are rejected once, and hold no memory', () => {
    const splitter = new FrameSplitter(1_000_000);
    const chunk = new Uint8Array(100_000).fill(120);
    let refusals = 0;
    const before = process.memoryUsage().arrayBuffers;
    for (let piece = 0; piece < 5_000; piece++) {
      splitter.push(chunk);
      if (splitter.next() !== undefined) refusals += 1;
    }
    expect(refusals).toBe(1);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(5_000_000);
    splitter.push(Buffer.from('\nnext\n'));
    expect(splitter.next()).toEqual(Buffer.from('next'));
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
