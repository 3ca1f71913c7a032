import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { createColors } from '../../colors.ts';
import { line, span } from '../screen/line.ts';
import { renderLine } from '../screen/render-line.ts';
import { widthOfLine } from '../screen/wrap-line.ts';
import { renderMarkdown } from './render-markdown.ts';

const plain = createColors(false);
const shown = (text: string, columns = 40) =>
  renderMarkdown(text, columns).map((each) => renderLine(each, plain).trimEnd());

describe('Markdown', () => {
  test.each<[rule: string, text: string, lines: string[]]>([
    ['blank lines stay, several count once', '# Title\n\n\ntext\nmore', ['Title', '', 'text', 'more']],
    [
      'a list is nested, and its lines hang below their text',
      '- one\n  - two words that do not fit into one line\n    1. three\n- four',
      ['• one', '  • two words that do not fit into one', '    line', '    1. three', '• four'],
    ],
    ['a list keeps its numbers', '9. nine\n10. ten', ['9. nine', '10. ten']],
    ['an item has blocks of its own', '1. a\n\n   b\n\n2. c', ['1. a', '', '   b', '', '2. c']],
    ['tasks are ticked', '- [x] done\n- [ ] open\n\n  why', ['• [x] done', '• [ ] open', '', '  why']],
    [
      'a table is aligned',
      '| name | count | x |\n|:--|--:|:-:|\n| tea | 5 | ab |\n| 커피 | 1200 | abc |',
      ['name  count   x', '────  ─────  ───', 'tea       5  ab', '커피   1200  abc'],
    ],
    [
      'a wide table wraps its cells',
      '| key | meaning |\n|-|-|\n| a | several words that need a second line |',
      [
        'key  meaning',
        '───  ───────────────────────────────────',
        'a    several words that need a second',
        '     line',
      ],
    ],
    [
      'a table without room for its columns becomes a list',
      `|${'column|'.repeat(5)}\n|${'-|'.repeat(5)}\n|${'long words|'.repeat(5)}`,
      [...Array<string>(5).fill('column: long words'), ''],
    ],
    [
      'such a table keeps its head',
      `|${'longer name|'.repeat(5)}\n|${'-|'.repeat(5)}`,
      [...Array<string>(5).fill('longer name:'), ''],
    ],
    ['the address of a link is visible', '[here](http://a.b) ![cat](c.png)', ['here (http://a.b) image cat (c.png)']],
    ['an address alone is not repeated', '<http://a.b> and me@a.b', ['http://a.b and me@a.b']],
    ['code keeps its lines and blanks', '```ts\nif (a) {\n\n  b; // *c*\n```', ['  if (a) {', '', '    b; // *c*']],
    ['a quote has a bar', '> one\n> > two', ['│ one', '│ │ two']],
    ['other text stays', '<b>x</b> ~~no~~ a_b_c 2 * 3 * 4 \\* &lt;', ['<b>x</b> ~~no~~ a_b_c 2 * 3 * 4 * <']],
    ['a rule', 'a\n\n---', ['a', '', '─'.repeat(40)]],
  ])('%s', (_rule, text, lines) => {
    expect(shown(text)).toEqual(lines);
  });

  test('emphasis, headings and code have styles', () => {
    expect(renderMarkdown('# A *b*\nc **d** *e* `f`', 80)).toEqual([
      [span('A ', 'bold'), span('b', 'bold')],
      [span('c '), span('d', 'bold'), span(' '), span('e', 'italic'), span(' '), span('f', 'cyan')],
    ]);
  });

  test('no escape sequence of a model reaches the terminal, in whichever block', () => {
    const evil = '\x1b]8;;http://evil\x07x\x1b[2J\x9b31m\u202e';
    const blocks = [
      '# E',
      '- [x] E',
      '> E',
      '`E`',
      '```E\nE\n```',
      '[E](E)',
      '![E](E)',
      '|E|\n|-|\n|E|',
      '<E>',
      '**E**',
    ];
    const text = blocks.join('\n\n').replaceAll('E', evil);
    const colored = renderMarkdown(text, 80).map((each) => renderLine(each, createColors(true)));
    // oxlint-disable-next-line no-control-regex
    expect(colored.join('').replaceAll(/\x1b\[[0-9]+m/g, '')).not.toMatch(/[\x00-\x1f\x7f-\x9f\u202e]/);
  });

  test('a hostile text is rendered within its bounds', () => {
    const hostile = ['[', '*a ', '>', '- ', '`', '<!--', '![[', '|', '1. ', '**a*', '\\'].map((mark) =>
      mark.repeat(1_500),
    );
    for (const text of hostile) expect(renderMarkdown(text, 80).length).toBeGreaterThan(0);
    const deep = '>'.repeat(20_000);
    expect(renderMarkdown(deep, 80).at(0)?.at(-1)?.text).toEndWith('>');
  });

  test('prose is never wider than the terminal, and no word is lost', () => {
    const word = fc.constantFrom('one', '**two**', '*three*', '안녕하세요', '👍🏽', '`code`', 'averyveryverylongword');
    fc.assert(
      fc.property(fc.array(word, { minLength: 1 }), fc.integer({ min: 10, max: 40 }), (words, columns) => {
        const lines = renderMarkdown(words.join(' '), columns);
        for (const each of lines) expect(widthOfLine(each)).toBeLessThanOrEqual(columns);
        const all = lines
          .map((each) => renderLine(each, plain))
          .join('')
          .replaceAll(' ', '');
        expect(all).toBe(words.join('').replaceAll(/[*`]/g, ''));
      }),
    );
  });

  test('without room for a block, its text is shown as it was written', () => {
    expect(renderMarkdown('- a', 5)).toEqual([line('- a')]);
  });
});
