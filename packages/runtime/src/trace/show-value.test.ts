import { expect, test } from 'bun:test';
import { shortLine, wholeText } from './show-value.ts';

test.each(['👩‍👩‍👧 👍🏽 ❤️‍🔥', 'می‌خواهم', 'क्‍ष', '안녕하세요', 'שלום', 'Ünïcödé'])('%s is shown unchanged', (text) => {
  expect(shortLine(text)).toBe(text);
  expect(wholeText('+', text)).toEqual([`+ ${text}`]);
});

test.each([
  ['\x1b[2J', '\\u001b[2J'],
  ['a\u202eb', 'a\\u202eb'],
  ['a\u200b b', 'a\\u200b b'],
  ['\u200djoined to nothing\u200c', '\\u200djoined to nothing\\u200c'],
  ['a\u200d\u200db', 'a\\u200d\\u200db'],
  ['tag\u{e0041}', 'tag\\u{e0041}'],
])('%j is escaped', (text, shown) => {
  expect(shortLine(text)).toBe(shown);
});
