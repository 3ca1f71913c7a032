import { expect, test } from 'bun:test';
import { PIECE_BYTES, ReceivedUploads, sendInPieces } from './blob-chunks.ts';

const piece = (upload: string, more: object = {}) => ({ upload, data: 'AAAA', size: 3, isLast: false, ...more });
const codeOf = (code: string) => expect.objectContaining({ code });

test('Y-02 bytes that are sent in pieces arrive unchanged', async () => {
  for (const length of [0, 1, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 2 * PIECE_BYTES]) {
    const bytes = Uint8Array.from({ length }, (_, index) => index % 251);
    const received = new ReceivedUploads(() => 2 * PIECE_BYTES);
    const arrived = await sendInPieces(bytes, 'one', async (each) => received.add(each));
    expect(Buffer.from(arrived ?? [1]).equals(bytes)).toBe(true);
  }
});

test('Y-02 a file that is larger than its sender says is refused', () => {
  const received = new ReceivedUploads(() => 5);
  expect(received.add(piece('one'))).toBeUndefined();
  expect(() => received.add(piece('one', { isLast: true }))).toThrow(codeOf('E_FILE_SIZE'));
  // The upload is forgotten, so its id can be used again.
  expect(received.add(piece('one', { isLast: true }))).toHaveLength(3);
  expect(() => received.add(piece('two', { size: 6 }))).toThrow(codeOf('E_FILE_SIZE'));
});

test('Y-02 a process has a limited number of uploads at a time', () => {
  const received = new ReceivedUploads(() => 100);
  for (let upload = 0; upload < 16; upload += 1) received.add(piece(`${upload}`));
  expect(() => received.add(piece('more'))).toThrow(codeOf('E_IPC_FULL'));
  // The next piece of an upload that has begun is no other upload.
  expect(received.add(piece('3', { isLast: true }))).toHaveLength(6);
  expect(received.add(piece('more'))).toBeUndefined();
});
