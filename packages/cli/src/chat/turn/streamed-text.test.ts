import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { StreamedText } from './streamed-text.ts';

test('a line is finished when its end arrives; the rest still changes', () => {
  const text = new StreamedText();
  expect(text.add('one\ntw')).toEqual(['one']);
  expect(text.rest).toBe('tw');
  expect(text.add('o\r')).toEqual([]);
  expect(text.add('\n')).toEqual(['two']);
  expect(text.add('three')).toEqual([]);
  expect(text.end()).toEqual(['three']);
  expect(text.end()).toEqual([]);
});

test('a line without an end is finished in pieces, between words', () => {
  const text = new StreamedText();
  const lines = text.add('words '.repeat(2_000));
  expect(lines.length).toBeGreaterThan(1);
  for (const each of lines) expect(each).toMatch(/^(words )+$/);
  expect(text.rest.length).toBeLessThanOrEqual(4_000);
  expect(text.add('x'.repeat(10_000)).every((each) => each.length <= 4_001)).toBe(true);
});

test('the lines do not depend on the pieces', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: fc.constantFrom('a', '\n', '안') })), (pieces) => {
      const text = new StreamedText();
      const lines = [...pieces.flatMap((piece) => text.add(piece)), ...text.end()];
      const whole = pieces.join('');
      expect(text.text).toBe(whole);
      expect(lines).toEqual(whole.endsWith('\n') || whole === '' ? whole.split('\n').slice(0, -1) : whole.split('\n'));
    }),
  );
});
