import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { emptyLine, type Line } from '../screen/line.ts';
import { renderMarkdown, withoutEnd } from '../markdown/render-markdown.ts';
import { StreamedMarkdown } from './streamed-markdown.ts';

const open = () => new StreamedMarkdown(() => 80);
const textsOf = (lines: readonly Line[]) =>
  lines.map((line) =>
    line
      .map(({ text }) => text)
      .join('')
      .trimEnd(),
  );

test.each<[rule: string, pieces: string[], finished: string[][], live: string[]]>([
  [
    'a paragraph is finished when the next block begins',
    ['one **t', 'wo**\n\n', 'x\n'],
    [[], [], ['one two', '']],
    ['x'],
  ],
  ['a list is finished item by item', ['1. a\n', '1. b', '\n1. c\n'], [[], [], ['1. a', '2. b']], ['3. c']],
  ['code is finished line by line', ['```ts\na\n', 'b', '\n\n```\n\nc'], [['  a'], [], ['  b', '']], ['', 'c']],
  ['a table is drawn again until it ends', ['|a|\n|-|\n', '|bcd|\n'], [[], []], ['a', '───', 'bcd']],
  ['blank lines before the first block do not count', ['\n\n', 'a\n\n# b\n'], [[], ['a', '']], ['b']],
  ['a line that is not complete begins no block', ['**a\n#', 'b**\n\nc\n'], [[], ['a', '#b', '']], ['c']],
  [
    'deeply indented marks do not end code',
    ['```\na\n    ```\n b\n ```\n**c**'],
    [['  a', '      ```', '   b']],
    ['c'],
  ],
  ['an indented list keeps its numbers', [' 1. a\n 1. b\n', ' 1. c\n'], [['1. a'], ['2. b']], ['3. c']],
  ['line ends of Windows', ['a\r', '\n\r\nb\r\n\r\nc\r\n'], [[], ['a', '', 'b', '']], ['c']],
])('%s', (_rule, pieces, finished, live) => {
  const text = open();
  expect(pieces.map((piece) => textsOf(text.add(piece)))).toEqual(finished);
  expect(textsOf(text.live())).toEqual(live);
  expect(textsOf(text.end())).toEqual(live);
  expect(text.end()).toEqual([]);
  expect(text.text).toBe(pieces.join(''));
});

test.each([
  ['words', 'words '.repeat(2_000)],
  ['a word', 'x'.repeat(10_000)],
  ['code', `\`\`\`\n${'x'.repeat(10_000)}`],
  ['quoted lines', '> a line\n'.repeat(1_000)],
])('a long block of %s is finished in pieces, and nothing is lost', (_name, long) => {
  const text = open();
  const lines = text.add(long);
  expect(lines.length).toBeGreaterThan(1);
  const shown = textsOf([...lines, ...text.end()])
    .join('')
    .replaceAll(/[│ ]/g, '');
  expect(shown).toBe(long.replaceAll(/[`> \n]/g, ''));
});

test('long code in an item of a list stays code, and ends there', () => {
  const text = open();
  const item = `1. ~~~ sh\n   one\n   ~~~\n   - \`\`\`\n     a\n${'     *x*\n'.repeat(1_000)}     \`\`\`\n\n2. **End**`;
  const lines = textsOf([...text.add(item), ...text.end()]);
  expect(lines.filter((line) => line === '       *x*')).toHaveLength(1_000);
  expect(lines.slice(-2)).toEqual(['', '2. End']);
});

test('a long table goes on below its head', () => {
  const text = open();
  const lines = textsOf([...text.add(`|head|\n|-|\n${'|cell|\n'.repeat(1_000)}`), ...text.end()]);
  expect(lines.filter((line) => line === 'head').length).toBeGreaterThan(1);
  expect(lines.filter((line) => line === 'cell')).toHaveLength(1_000);
});

test('the lines do not depend on the pieces', () => {
  const part = fc.constantFrom('a', '\n', '\n\n', '- b', '  - c', '1. d', '# ', '> ', '**', '`', '|e|', '|-|');
  fc.assert(
    fc.property(fc.array(fc.array(part).map((parts) => parts.join(''))), (pieces) => {
      const text = open();
      const lines = [...pieces.flatMap((piece) => text.add(piece)), ...text.end()];
      const whole = open();
      expect(textsOf(lines)).toEqual(textsOf([...whole.add(pieces.join('')), ...whole.end()]));
    }),
  );
});

test('a streamed answer looks like the whole one', () => {
  const answer = '# A\n\nb\nc\n\n- d\n  - e\n- f\n\n2. g\n3. h\n\n|i|\n|-|\n|j|\n\n> k\n\n```\nl\n```\nm';
  const text = open();
  const lines = answer.split('').flatMap((piece) => text.add(piece));
  expect(textsOf([...lines, ...text.end()])).toEqual(textsOf(withoutEnd(renderMarkdown(answer, 80))));
  expect(lines).toContain(emptyLine);
});
