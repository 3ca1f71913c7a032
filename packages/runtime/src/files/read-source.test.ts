import { expect, test } from 'bun:test';
import { decodeBase64, readSource } from './read-source.ts';

const decoded = (source: string) => {
  const read = readSource(source);
  return read.kind === 'bytes' ? decodeBase64(read)?.length : read.kind;
};

test('Y-02 only whole base64 is bytes, with or without padding, and in lines', () => {
  expect(['QUJD', 'QUI=', 'QUI', 'QU JD\nQQ==', 'data:text/plain;base64,QUJD', 'data:,A%20B'].map(decoded)).toEqual([
    3, 2, 2, 4, 3, 3,
  ]);
  // A sign that is not base64, and padding in the middle.
  expect(['QU*D', 'QQ==QUJD'].map(decoded)).toEqual([undefined, undefined]);
  expect(['blob:sha256-1', 'data:text/plain', 'data:,%', 'https://example.com/a'].map(decoded)).toEqual([
    'malformed',
    'malformed',
    'malformed',
    'url',
  ]);
});
