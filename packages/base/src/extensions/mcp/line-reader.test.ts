import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { LineReader } from './line-reader.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

test('B-06 lines do not depend on how the bytes are split', () => {
  const text = 'one\ntwö\r\n\n日本\nrest';
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 40, maxLength: 40 }), (sizes) => {
      const reader = new LineReader(100);
      const all = bytes(text);
      const lines: string[] = [];
      let at = 0;
      for (const size of sizes) {
        lines.push(...reader.push(all.subarray(at, at + size)));
        at += size;
      }
      expect([...lines, reader.rest()]).toEqual(['one', 'twö', '', '日本', 'rest']);
    }),
  );
});

test('an endless line is skipped, and the next one is read', () => {
  const reader = new LineReader(5);
  expect(reader.push(bytes('a\n123456'))).toEqual(['a']);
  expect(reader.isTooLong).toBe(true);
  reader.skipLine();
  expect(reader.isTooLong).toBe(false);
  expect(reader.push(bytes('789'))).toEqual([]);
  expect(reader.rest()).toBe('');
  expect(reader.push(bytes('0\nb\nc'))).toEqual(['b']);
  expect(reader.rest()).toBe('c');
});
