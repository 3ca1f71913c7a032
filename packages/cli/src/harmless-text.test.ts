import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { harmlessText } from './harmless-text.ts';

test.each([
  ['colours', '\x1b[31mred\x1b[0m', '␛[31mred␛[0m'],
  ['the title', '\x1b]0;pwned\x07', '␛]0;pwned␇'],
  ['the clipboard', '\x1b]52;c;AAAA\x1b\\', '␛]52;c;AAAA␛\\'],
  ['the cursor', 'a\rb\bc', 'a␍b␈c'],
  ['a line break', 'a\nb', 'a␊b'],
  ['C1, which some terminals obey', '\x9b31m', '\ufffd31m'],
  ['delete', 'a\x7f', 'a␡'],
  ['the direction of text', 'a\u202eb\u2066c', 'a\ufffdb\ufffdc'],
  ['line separators', 'a\u2028b', 'a\ufffdb'],
  ['half a character', '\ud83d', '\ufffd'],
])('makes visible and harmless: %s', (_name, text, shown) => {
  expect(harmlessText(text)).toBe(shown);
});

test.each(['안녕하세요', '👨‍👩‍👧 ❤️ 🇰🇷', 'a\tb', 'שלום', 'Ünïcödé – “quotes”'])('leaves unchanged: %s', (text) => {
  expect(harmlessText(text)).toBe(text);
});

test('after any input, no control character is left', () => {
  const characters = fc.string({
    unit: fc.integer({ min: 0, max: 0x2070 }).map((code) => String.fromCharCode(code)),
  });
  fc.assert(
    fc.property(characters, (text) => {
      expect(harmlessText(text).replaceAll('\t', '')).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
    }),
  );
});
