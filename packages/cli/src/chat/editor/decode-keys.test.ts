import { expect, test } from 'bun:test';
import { KeyDecoder, LONGEST_PASTE } from './decode-keys.ts';
import type { Key } from './key.ts';

const encode = (text: string) => new TextEncoder().encode(text);

/** Decodes the text once as a whole and once byte by byte; both must give the same keys. */
function decode(text: string): Key[] {
  return new KeyDecoder().feed(encode(text));
}

function decodeSlowly(text: string): Key[] {
  const decoder = new KeyDecoder();
  return [...encode(text)].flatMap((byte) => decoder.feed(Uint8Array.of(byte)));
}

test.each([
  ['\r', 'enter'],
  ['\n', 'new-line'],
  ['\x1b\r', 'new-line'],
  ['\x1b[13;2u', 'new-line'],
  ['\x1b[27;2;13~', 'new-line'],
  ['\x1b[A', 'up'],
  ['\x1bOA', 'up'],
  ['\x1b[D', 'left'],
  ['\x1b[1;5D', 'word-left'],
  ['\x1b[1;3C', 'word-right'],
  ['\x1bb', 'word-left'],
  ['\x1b[H', 'home'],
  ['\x1b[1~', 'home'],
  ['\x1bOF', 'end'],
  ['\x1b[4~', 'end'],
  ['\x1b[3~', 'delete'],
  ['\x01', 'home'],
  ['\x05', 'end'],
  ['\x15', 'delete-to-start'],
  ['\x0b', 'delete-to-end'],
  ['\x17', 'delete-word'],
  ['\x1b\x7f', 'delete-word'],
  ['\x7f', 'backspace'],
  ['\x03', 'interrupt'],
  ['\x04', 'end-of-input'],
  ['\x0c', 'clear-screen'],
] as const)('%j is %s, in one piece or in many', (bytes, type) => {
  expect(decode(bytes)).toEqual([{ type }]);
  expect(decodeSlowly(bytes)).toEqual([{ type }]);
});

test('text of several bytes, even cut in the middle of a character', () => {
  expect(decode('안녕 👍🏽')).toEqual([{ type: 'text', text: '안녕 👍🏽' }]);
  expect(decodeSlowly('안녕')).toEqual([
    { type: 'text', text: '안' },
    { type: 'text', text: '녕' },
  ]);
});

test('a paste is one key, whatever its content', () => {
  const pasted = 'one\r\ntwo\x03\x1b[A';
  const paste: Key = { type: 'paste', text: pasted };
  expect(decode(`a\x1b[200~${pasted}\x1b[201~b\r`)).toEqual([
    { type: 'text', text: 'a' },
    paste,
    { type: 'text', text: 'b' },
    { type: 'enter' },
  ]);
  expect(decodeSlowly(`\x1b[200~${pasted}\x1b[201~`)).toEqual([paste]);
});

test('a paste that is too long is refused as a whole, and the text after it is read', () => {
  const decoder = new KeyDecoder();
  const keys = [`\x1b[200~`, 'x'.repeat(LONGEST_PASTE), 'more', '\x1b[201~ok'].flatMap((piece) =>
    decoder.feed(encode(piece)),
  );
  expect(keys).toEqual([{ type: 'paste-too-long' }, { type: 'text', text: 'ok' }]);
});

test.each(['\x1b[?1;2c', '\x1b]11;rgb:0000/0000/0000\x07', '\x1bP1+r\x1b\\', '\x1b[I', '\x1b[99~', '\x00', '\x1bz'])(
  '%j is not a key, and none of it is text',
  (bytes) => {
    expect(decode(`${bytes}a`)).toEqual([{ type: 'text', text: 'a' }]);
    expect(decodeSlowly(`${bytes}a`)).toEqual([{ type: 'text', text: 'a' }]);
  },
);

test('a lone escape waits until it is dropped', () => {
  const decoder = new KeyDecoder();
  expect(decoder.feed(encode('\x1b'))).toEqual([]);
  expect(decoder.isWaiting).toBe(true);
  decoder.forgetEscape();
  expect(decoder.feed(encode('[A'))).toEqual([{ type: 'text', text: '[A' }]);
});

test('a sequence without an end is dropped', () => {
  const decoder = new KeyDecoder();
  decoder.feed(encode(`\x1b]0;${'x'.repeat(1_000)}`));
  expect(decoder.isWaiting).toBe(false);
  expect(decoder.feed(encode('a'))).toEqual([{ type: 'text', text: 'a' }]);
});
