import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { widthOf } from '../../graphemes.ts';
import { type Line, line, span } from './line.ts';
import { wrapLine, wrapProse } from './wrap-line.ts';

const textsOf = (rows: ReturnType<typeof wrapLine>) => rows.map((row) => row.line.map(({ text }) => text).join(''));

test.each<[string, Line, number, string[]]>([
  ['fits', line('abc'), 3, ['abc']],
  ['breaks by characters', line('abcdef'), 4, ['abcd', 'ef']],
  ['keeps a wide character whole', line('a안녕'), 4, ['a안', '녕']],
  ['keeps an emoji of many parts whole', line('ab👨‍👩‍👧c'), 3, ['ab', '👨‍👩‍👧c']],
  ['goes on in another span', [span('abc', 'dim'), span('def')], 4, ['abcd', 'ef']],
  ['an empty line is a row', [], 4, ['']],
  ['a character that is wider than the terminal', line('안녕'), 1, ['안', '녕']],
  ['a tab as blanks', line('a\tb'), 80, ['a    b']],
])('%s', (_name, given, columns, rows) => {
  expect(textsOf(wrapLine(given, columns))).toEqual(rows);
});

test('prose breaks between words, also after one of a single letter', () => {
  const rows = wrapProse(line('a bcd'), 4).map((row) => row.map(({ text }) => text).join(''));
  expect(rows).toEqual(['a', 'bcd']);
});

test('no row is wider than the terminal, and nothing is lost', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'é', '안', '👍🏽', ' ', 'e\u0301') });
  fc.assert(
    fc.property(text, fc.integer({ min: 2, max: 20 }), (written, columns) => {
      const rows = wrapLine(line(written), columns);
      expect(textsOf(rows).join('')).toBe(written);
      for (const { line: row, width } of rows) {
        expect(width).toBeLessThanOrEqual(columns);
        expect(width).toBe(row.reduce((sum, each) => sum + widthOf(each.text), 0));
      }
    }),
  );
});
