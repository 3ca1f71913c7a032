import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { layOutPrompt } from './lay-out-prompt.ts';

const space = { columns: 20, mostRows: 5, label: '> ' };

/** Lays out a text in which `|` marks the cursor. */
function layOut(marked: string, where: Partial<typeof space> = {}) {
  const edited = { text: marked.replace('|', ''), cursor: marked.indexOf('|'), killed: '' };
  const { rows, cursorRow, cursorColumn } = layOutPrompt(edited, { ...space, ...where });
  return { rows: rows.map(({ line }) => line.map(({ text }) => text).join('')), cursor: [cursorRow, cursorColumn] };
}

test.each([
  ['nothing', '|', ['> '], [0, 2]],
  ['a word', 'ab|c', ['> abc'], [0, 4]],
  ['wide characters', '안녕|', ['> 안녕'], [0, 6]],
  ['several lines', 'ab\nc|d', ['> ab', '  cd'], [1, 3]],
  ['a full row', `${'x'.repeat(18)}|`, [`> ${'x'.repeat(18)}`, ''], [1, 0]],
  ['more than a row', `${'x'.repeat(19)}|`, [`> ${'x'.repeat(18)}`, 'x'], [1, 1]],
  ['a wide character that does not fit', `${'x'.repeat(17)}안|`, [`> ${'x'.repeat(17)}`, '안'], [1, 2]],
])('%s', (_name, marked, rows, cursor) => {
  expect(layOut(marked)).toEqual({ rows, cursor });
});

test('shows the rows around the cursor when there are many', () => {
  const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`);
  expect(layOut(`${lines.join('\n')}|`).rows).toEqual(lines.slice(15).map((each) => `  ${each}`));
  expect(layOut(`|${lines.join('\n')}`).rows[0]).toBe('> line 0');
});

test('leaves out the label when there is no room', () => {
  expect(layOut('ab|', { columns: 3 })).toEqual({ rows: ['ab'], cursor: [0, 2] });
});

test('in any terminal: at most the allowed rows, with the cursor in one of them', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '안', '\n', '👍🏽'), maxLength: 60 });
  const where = fc.record({ columns: fc.integer({ min: 1, max: 12 }), mostRows: fc.integer({ min: 1, max: 6 }) });
  fc.assert(
    fc.property(text, where, (written, given) => {
      const { rows, cursor } = layOut(`${written}|`, given);
      expect(rows.length).toBeLessThanOrEqual(given.mostRows);
      expect(cursor[0]).toBeWithin(0, rows.length);
    }),
  );
});
