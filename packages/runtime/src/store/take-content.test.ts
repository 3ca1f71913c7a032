import { expect, test } from 'bun:test';
import { type ContentPart, fileReferenceOf } from '@goondan/types';
import { memoryBlobs } from './memory-blobs.ts';
import { takeContent } from './take-content.ts';

const owner = { agentName: 'painter', instanceKey: 'default' };
const limits = { maxFileBytes: 10 };

test('Y-02 a reference counts with the size of the stored bytes, whatever its sender says', async () => {
  const blobs = memoryBlobs();
  const parts = await Promise.all(
    ['a', 'b', 'c'].map(async (letter): Promise<ContentPart> => {
      const digest = await blobs.put({ upload: letter }, new TextEncoder().encode(letter.repeat(8)));
      return { type: 'file', data: fileReferenceOf(digest), mediaType: 'text/plain', size: 1 };
    }),
  );
  const { content } = await takeContent(blobs, owner, parts.slice(1), limits);
  expect(content).toMatchObject([{ size: 8 }, { size: 8 }]);
  // All files of an input together may have twice the bytes of one.
  expect(takeContent(blobs, owner, parts, limits)).rejects.toMatchObject({ code: 'E_FILE_SIZE' });
  const one = { maxFileBytes: 7 };
  expect(takeContent(blobs, owner, parts.slice(1, 2), one)).rejects.toMatchObject({ code: 'E_FILE_SIZE' });
});
