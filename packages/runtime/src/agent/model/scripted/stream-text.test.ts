import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { splitWords } from './stream-text.ts';

describe('splitWords', () => {
  test.each<[text: string, words: string[]]>([
    ['', []],
    ['one', ['one']],
    ['It is 3 degrees.', ['It ', 'is ', '3 ', 'degrees.']],
    ['  a\n\n b ', ['  ', 'a\n\n ', 'b ']],
  ])('%p', (text, words) => {
    expect(splitWords(text)).toEqual(words);
  });

  test('the pieces joined are the text, and none is empty', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.oneof(fc.constantFrom(' ', '\n', 'a'), fc.string()) }), (text) => {
        expect(splitWords(text).join('')).toBe(text);
        expect(splitWords(text)).not.toContain('');
      }),
    );
  });
});
