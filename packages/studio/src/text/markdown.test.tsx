import { expect, test } from 'bun:test';
import { renderToStaticMarkup } from 'react-dom/server';
import { Markdown } from './markdown.tsx';

const markupOf = (text: string) =>
  renderToStaticMarkup(<Markdown text={text} />)
    .replace(/^<div class="text markdown">(.*)<\/div>$/s, '$1')
    .replaceAll(/>\n+</g, '><');

const link = (href: string, text: string) =>
  `<p><a href="${href}" title="${href}" target="_blank" rel="noreferrer">${text}</a></p>`;

test.each([
  ['a **b** _c_ ~~d~~ `e`', '<p>a <strong>b</strong> <em>c</em> <del>d</del> <code>e</code></p>'],
  [`a\n\n${'-'.repeat(60)}`, '<p>a</p><hr/>'],
  ['1. a\n2. b', '<ol><li>a</li><li>b</li></ol>'],
  ['| a |\n| - |\n| 1 |', '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>1</td></tr></tbody></table>'],
  ['```ts\nlet a;\n```', '<pre><code class="language-ts">let a;\n</code></pre>'],
  ['[a](https://b.c/d)', link('https://b.c/d', 'a')],
  ['https://b.c/d', link('https://b.c/d', 'https://b.c/d')],
  ['<me@b.c>', link('mailto:me@b.c', 'me@b.c')],
])('%j is shown as Markdown', (text, markup) => {
  expect(markupOf(text)).toBe(markup);
});

test.each([
  ['<img src=x onerror=alert(1)>', '&lt;img src=x onerror=alert(1)&gt;'],
  ['[a](javascript:alert(1))', '<p><span>a</span></p>'],
  ['[a](data:text/html,b)', '<p><span>a</span></p>'],
  ['[a](#/demo/agent/key)', '<p><span>a</span></p>'],
  ['[a](//b.c)', '<p><span>a</span></p>'],
  ['![a](data:image/png;base64,AA==)', '<p><span>a</span></p>'],
  ['![a](https://b.c/d.png)', link('https://b.c/d.png', 'a')],
])('%j runs nothing, loads nothing and leaves Studio only by a link to another page', (text, markup) => {
  expect(markupOf(text)).toBe(markup);
});

test.each([['a ', 10_001], ['*_', 1_501], ...['>', '> ', '- ', '1. '].map((mark) => [mark, 9_000] as const)])(
  'a text that a browser would read for long is shown as it is: %j, %d times',
  (part, times) => {
    const text = part.repeat(times);
    expect(renderToStaticMarkup(<Markdown text={text} />)).toBe(`<p class="text">${text.replaceAll('>', '&gt;')}</p>`);
  },
);
