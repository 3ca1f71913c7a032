import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { usedMs } from '../../../../../test/used-ms.ts';
import { htmlToText } from './html-to-text.ts';

const base = new URL('https://example.test/a/');
const textOf = (html: string) => htmlToText(html, base).text;

describe('HTML as text', () => {
  test.each<[string, string, string]>([
    ['white space', '<p> a \n\n b\t</p>\n<p>c</p>', 'a b\nc'],
    ['inline elements', 'a<b>b</b>c <i>d</i>', 'abc d'],
    ['headings', '<h1>One</h1><p>x</p><h3>Three</h3>y', '# One\nx\n\n### Three\ny'],
    ['lists', '<ul><li>a<li>b</ul>', '- a\n- b'],
    ['tables', '<table><tr><td>a</td><td>b</td></tr></table>', 'a | b |'],
    ['breaks', 'a<br>b<br/>c', 'a\nb\nc'],
    ['links', '<a href="b?x=1&amp;y=2">see <b>this</b></a>.', '[see this](https://example.test/a/b?x=1&y=2).'],
    [
      'links without quotes',
      "<a class=x href=/b>c</a> <A HREF='/d'>e</A>",
      '[c](https://example.test/b) [e](https://example.test/d)',
    ],
    ['links to nowhere', '<a href="#x">a</a> <a href="javascript:x">b</a> <a>c</a> <a href="/x"></a>', 'a b c'],
    [
      'a link that is never ended',
      '<a href="/x">a <a href="/y">b</a>',
      '[a](https://example.test/x)[b](https://example.test/y)',
    ],
    [
      'hidden elements',
      'a<script>if (a < b) "</p>"</script><style>p{}</style><!-- <p>x</p> -->b<svg><text>c</text></svg>',
      'ab',
    ],
    ['entities', '&lt;&amp;&gt; &#233;&#x1F642; &nbsp;&unknown; &#99999999;', '<&> é🙂 &unknown; &#99999999;'],
    ['characters that are not tags', 'a < b > c <3 <', 'a < b > c <3 <'],
    ['characters that are not tags before a tag', 'a < b<p>c', 'a < b\nc'],
    ['quotes in tags', '<p title="a > b">c</p>', 'c'],
    ['declarations', '<!DOCTYPE html><?xml version="1.0"?>a', 'a'],
    ['letters that get longer in lower case', 'İİİ<p>a</p><script>x</script>b', 'İİİ\na\nb'],
  ])('%s', (_title, html, text) => {
    expect(textOf(html)).toBe(text);
  });

  test('the title is returned separately', () => {
    expect(htmlToText('<head><title> A\n B </title><meta></head><body>c', base)).toEqual({ title: 'A B', text: 'c' });
    expect(htmlToText('<html><head><link><body>c', base)).toEqual({ title: '', text: 'c' });
  });

  test.each([
    ['opened', '<a href=x>'],
    ['nested', '<b><i>x'],
    ['unfinished', '<p title="'],
    ['comments', '<!-- '],
    ['signs', '<'],
    ['scripts', '<script>x'],
    ['titles', '<title>'],
    ['blocks', '<p>a </p>'],
    ['spaces', ' \n\t '],
    ['entities', '&#x'],
    ['ends', '</a>'],
  ])(
    'megabytes of it take time in proportion: %s',
    (_title, piece) => {
      const before = usedMs();
      textOf(piece.repeat(2_000_000 / piece.length));
      // This limit is far above the usual time, and far below the time of a quadratic algorithm.
      expect(usedMs() - before).toBeLessThan(20_000);
    },
    60_000,
  );

  test('any input is read to its end', () => {
    const piece = fc.constantFrom(
      '<',
      '>',
      '</',
      'a',
      '"',
      "'",
      '<a href="',
      '<script>',
      '</script>',
      '<!--',
      '-->',
      ' ',
      '&',
      '&amp;',
      '<title>',
      '<head>',
      '<li>',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        expect(textOf(pieces.join(''))).toBeString();
        expect(textOf(`${pieces.join('')}"'-->></script></title></head></svg><body><p>end</p>`)).toBeString();
      }),
    );
  });
});
