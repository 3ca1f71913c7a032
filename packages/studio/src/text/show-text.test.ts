import { expect, test } from 'bun:test';
import { showJson, showLines, showText } from './show-text.ts';

const hostile = 'a\u202eb\u200bc\u0007\u{e0041}\n\td';

test('characters that cannot be seen are written out', () => {
  expect(showText(hostile)).toBe('a\\u202eb\\u200bc\\u0007\\u{e0041}\\u000a\\u0009d');
  expect(showText('a\ufe01b\u{e0101}c\u034f\u3164 ☂\ufe0f')).toBe('a\\ufe01b\\u{e0101}c\\u034f\\u3164 ☂\ufe0f');
  expect(showLines(hostile)).toBe('a\\u202eb\\u200bc\\u0007\\u{e0041}\n\td');
});

test('the JSON that a person edits is the JSON of the shown value, and every character can be seen', () => {
  // Every character of the first plane, in pieces, and some of the others.
  const codes = Array.from({ length: 0x300 }, (_, at) => (at < 0x100 ? at * 0x100 : 0x1_0000 + at * 0x400));
  for (const from of codes) {
    const text = String.fromCodePoint(...Array.from({ length: 0x100 }, (_, at) => from + at));
    const shown = showJson({ list: [text, hostile], text });
    expect(JSON.parse(shown)).toEqual({ list: [text, hostile], text });
    expect(shown.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]/u);
  }
});
