import { expect, test } from 'bun:test';
import { splitInline } from './split-inline.ts';

test.each([
  ['plain', ['text plain']],
  ['', []],
  ['1. **look** at `x.ts`.', ['text 1. ', 'strong look', 'text  at ', 'code x.ts', 'text .']],
  ['## Plan\nfirst', ['strong Plan', 'text \nfirst']],
  ['`**as written**`', ['code **as written**']],
  ['2 ** 3 ** 4, a * b, `open', ['text 2 ** 3 ** 4, a * b, `open']],
  ['2 ** 3**', ['text 2 ** 3**']],
  ['**over\nlines**', ['text **over\nlines**']],
])('%p', (text, pieces) => {
  expect(splitInline(text).map((piece) => `${piece.type} ${piece.text}`)).toEqual(pieces);
});
