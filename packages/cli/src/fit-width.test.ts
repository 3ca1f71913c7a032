import { describe, expect, test } from 'bun:test';
import { cutToWidth, padToWidth, wrapWords } from './fit-width.ts';
import { shorten } from './shorten.ts';

describe('cutToWidth', () => {
  test.each([
    ['abcdef', 6, 'abcdef'],
    ['abcdef', 5, 'abcd…'],
    ['漢字漢字', 8, '漢字漢字'],
    ['漢字漢字', 7, '漢字漢…'],
    ['漢字漢字', 6, '漢字…'],
    ['👩‍👩‍👧👩‍👩‍👧', 3, '👩‍👩‍👧…'],
    ['e\u0301e\u0301e\u0301', 2, 'e\u0301…'],
  ])('%p in %d columns is %p', (text, columns, expected) => {
    expect(cutToWidth(text, columns)).toBe(expected);
    expect(Bun.stringWidth(cutToWidth(text, columns))).toBeLessThanOrEqual(columns);
  });
});

describe('wrapWords', () => {
  test.each([
    ['breaks between words', 'one two three four', 12, '', ['one two', 'three four']],
    ['keeps the indentation of a line, and hangs', '  one two three four', 16, '  ', ['  one two', '    three four']],
    ['breaks a word that is wider than the row', `a ${'x'.repeat(16)}`, 12, '', [`a ${'x'.repeat(10)}`, 'xxxxxx']],
    ['counts columns', '漢字漢字 漢字 漢字', 13, '', ['漢字漢字 漢字', '漢字']],
    ['does not change what fits', 'one  two ', 12, '', ['one  two ']],
    ['does not change a line without room', 'one two three', 8, '', ['one two three']],
    ['does not change a text for a pipe', 'one two three four', undefined, '', ['one two three four']],
    ['wraps each line', 'one\nthree four five', 12, '', ['one', 'three four', 'five']],
  ])('%s', (_title, text, columns, hang, rows) => {
    expect(wrapWords(text, columns, hang).split('\n')).toEqual(rows);
  });
});

test('padToWidth fills up columns, not characters', () => {
  expect([padToWidth('漢字', 6), padToWidth('漢字', 3), padToWidth('a', 2)]).toEqual(['漢字  ', '漢字', 'a ']);
});

test('shorten: one row of limited width; an unread rest is marked', () => {
  expect(shorten('  one\n two ', 20)).toBe('one two');
  expect(shorten('漢'.repeat(30), 20)).toBe(`${'漢'.repeat(9)}…`);
  expect(shorten(`${' '.repeat(50)}late`, 10)).toBe('…');
});
