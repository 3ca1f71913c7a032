import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { usedMs } from '../../../../../test/used-ms.ts';
import { checksum } from './checksum.ts';
import { readLines } from './read-lines.ts';
import { sealLines } from './seal-lines.ts';

const line = (seq: number, text = `line ${seq} é`) => JSON.stringify({ seq, text });
const firstWrite = sealLines([line(1), line(2)]);
const secondWrite = sealLines([line(3), line(4), line(5)]);
const bytes = Buffer.concat([firstWrite, secondWrite]);
const seqs = (read: ReturnType<typeof readLines>) => read.lines.map(({ seq }) => seq);

test('the checksum of a part can be continued with the next part', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.uint8Array(), (one, other) => {
      expect(checksum(other, checksum(one))).toBe(checksum(Buffer.concat([one, other])));
    }),
  );
});

test('reads back the given lines', () => {
  const read = readLines(bytes);
  expect(seqs(read)).toEqual([1, 2, 3, 4, 5]);
  expect(read).toMatchObject({ end: bytes.length, torn: false });
  expect(read.damage).toBeUndefined();
  expect(read.lines[4]?.fields).toEqual({ seq: 5, text: 'line 5 é' });
});

test('after a cut at any byte, the lines before the cut are intact and the rest is torn', () => {
  for (let size = 0; size <= bytes.length; size += 1) {
    const read = readLines(bytes.subarray(0, size));
    expect(read.damage).toBeUndefined();
    expect(read.torn).toBe(size !== read.end);
    const whole = bytes.subarray(0, size).filter((byte) => byte === 0x0a).length;
    expect(seqs(read)).toEqual([1, 2, 3, 4, 5].slice(0, whole));
  }
});

test('zeros inside the last write are a torn tail, even with intact lines of that write behind them', () => {
  for (let from = firstWrite.length; from < bytes.length; from += 1) {
    const holed = Buffer.from(bytes);
    holed.fill(0, from, Math.min(bytes.length, from + 5));
    const read = readLines(holed);
    expect(read.damage).toBeUndefined();
    expect(read.torn).toBe(true);
    expect(seqs(read).slice(0, 2)).toEqual([1, 2]);
  }
});

test('zeros inside an earlier write are damage', () => {
  const holed = Buffer.from(bytes);
  holed.fill(0, 10, 15);
  expect(readLines(holed).damage).toContain('byte 0');
});

test('a flipped bit is damage at every position, except in the last line break', () => {
  for (let at = 0; at < bytes.length - 1; at += 1) {
    const flipped = Buffer.from(bytes);
    flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 7));
    const { damage, torn } = readLines(flipped);
    expect(damage ?? (torn ? 'torn' : undefined)).toBeDefined();
    // In the last line, a flip may create a line break. Then the second half of the line looks torn, not damaged.
    if (at < firstWrite.length) expect(damage).toBeDefined();
  }
});

test('numbers that do not increase are damage', () => {
  expect(readLines(Buffer.concat([secondWrite, firstWrite])).damage).toContain(
    'number 1, but the line before it has 5',
  );
  expect(readLines(Buffer.concat([firstWrite, firstWrite])).damage).toBeDefined();
});

test('a foreign line of 10 MB takes less than a second', () => {
  const started = usedMs();
  const long = Buffer.concat([bytes, Buffer.alloc(10 * 2 ** 20, 'x'), Buffer.from('\n')]);
  expect(readLines(long).damage).toBeDefined();
  expect(usedMs() - started).toBeLessThan(1000);
});
