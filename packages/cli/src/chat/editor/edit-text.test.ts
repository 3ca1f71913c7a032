import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { boundaries } from '../../graphemes.ts';
import { edit, type EditedText, insert, leavesText, LONGEST_TEXT } from './edit-text.ts';
import type { EditingKey } from './key.ts';

/** Creates a text in which `|` marks the cursor. */
function at(marked: string): EditedText {
  return { text: marked.replace('|', ''), cursor: marked.indexOf('|'), killed: '' };
}

function mark({ text, cursor }: EditedText): string {
  return `${text.slice(0, cursor)}|${text.slice(cursor)}`;
}

function press(marked: string, ...keys: EditingKey[]): string {
  return mark(keys.reduce(edit, at(marked)));
}

describe('edit', () => {
  test.each<[string, EditingKey, string]>([
    ['ab|c', 'left', 'a|bc'],
    ['|abc', 'left', '|abc'],
    ['abc|', 'right', 'abc|'],
    ['안|녕', 'left', '|안녕'],
    ['a👨‍👩‍👧|', 'left', 'a|👨‍👩‍👧'],
    ['|👨‍👩‍👧a', 'right', '👨‍👩‍👧|a'],
    ['a👨‍👩‍👧|b', 'backspace', 'a|b'],
    ['e\u0301|', 'backspace', '|'],
    ['a\n|b', 'backspace', 'a|b'],
    ['a|\nb', 'delete', 'a|b'],
    ['a\nb|c', 'home', 'a\n|bc'],
    ['a|b\nc', 'end', 'ab|\nc'],
    ['\n|', 'home', '\n|'],
    ['|\na', 'home', '|\na'],
    ['|\na', 'left', '|\na'],
    ['one two|', 'delete-word', 'one |'],
    ['one two  |', 'delete-word', 'one |'],
    ['안녕 여러분|', 'delete-word', '안녕 |'],
    ['one| two', 'delete-next-word', 'one|'],
    ['one two|', 'word-left', 'one |two'],
    ['|one two', 'word-right', 'one| two'],
    ['a\nbc|d', 'delete-to-start', 'a\n|d'],
    ['a\n|d', 'delete-to-start', 'a|d'],
    ['|d', 'delete-to-start', '|d'],
    ['a|bc\nd', 'delete-to-end', 'a|\nd'],
    ['a|\nd', 'delete-to-end', 'a|d'],
    ['a|b', 'new-line', 'a\n|b'],
    ['abc\nde|f', 'up', 'ab|c\ndef'],
    ['abcd|\ne', 'down', 'abcd\ne|'],
    ['안녕|\nabcdef', 'down', '안녕\nabcd|ef'],
    ['ab|c', 'up', 'ab|c'],
  ])('%j, %s: %j', (before, key, after) => {
    expect(press(before, key)).toBe(after);
  });

  test('deleted text comes back with Ctrl-Y', () => {
    expect(press('one two|', 'delete-word', 'home', 'yank')).toBe('two|one ');
    expect(press('one two|', 'delete-to-start', 'yank', 'yank')).toBe('one twoone two|');
  });

  test('up leaves the text from its first line, down from its last', () => {
    expect(leavesText(at('a|\nb'), 'up')).toBe(true);
    expect(leavesText(at('a|\nb'), 'down')).toBe(false);
    expect(leavesText(at('a\nb|'), 'down')).toBe(true);
  });

  test('after any keys, the cursor is between two characters', () => {
    const text = fc.string({ unit: fc.constantFrom('a', ' ', '\n', '안', '👨‍👩‍👧', 'e\u0301', '#️⃣', '-') });
    const keys = fc.array(
      fc.constantFrom<EditingKey>('left', 'right', 'up', 'down', 'home', 'end', 'word-left', 'word-right'),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(text, keys, (written, pressed) => {
        const edited = pressed.reduce(edit, { text: written, cursor: written.length, killed: '' });
        expect(boundaries(written)).toContain(edited.cursor);
      }),
    );
  });
});

describe('insert', () => {
  test('is made at the cursor; lines end with a line feed, and control characters are left out', () => {
    const edited = insert(at('a|b'), 'one\r\ntwo\rthree\x1b[31m\x07\tfour');
    expect(edited && mark(edited)).toBe('aone\ntwo\nthree[31m\tfour|b');
  });

  test('changes nothing when the text would be too long', () => {
    expect(insert(at('a|'), 'x'.repeat(LONGEST_TEXT))).toBeUndefined();
  });
});
