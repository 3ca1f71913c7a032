/** Reads and decompresses a body up to a limit; the rest is not decompressed. */
import type { IncomingMessage } from 'node:http';
import { pipeline, type Transform } from 'node:stream';
import { GoondanError } from '@goondan/types';

/** Reads the body. `isCut` is true if the body was longer than the limit. */
export async function readBody(answer: IncomingMessage, limit: number) {
  const unpacker = await unpackerFor(answer.headers['content-encoding']);
  const stream = unpacker === undefined ? answer : pipeline(answer, unpacker, () => undefined);
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of stream) {
      // The cast is safe: without an encoding the chunks are buffers.
      chunks.push(chunk as Buffer);
      length += (chunk as Buffer).length;
      if (length > limit) return { bytes: Buffer.concat(chunks).subarray(0, limit), isCut: true };
    }
    return { bytes: Buffer.concat(chunks), isCut: false };
  } finally {
    answer.destroy();
    unpacker?.destroy();
  }
}

async function unpackerFor(encoding: string | undefined): Promise<Transform | undefined> {
  const name = encoding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return undefined;
  const { createBrotliDecompress, createGunzip, createInflate } = await import('node:zlib');
  if (name === 'gzip' || name === 'x-gzip') return createGunzip();
  if (name === 'deflate') return createInflate();
  if (name === 'br') return createBrotliDecompress();
  throw new GoondanError(
    'E_FETCH_FAILED',
    `The answer is compressed as ${JSON.stringify(name.slice(0, 50))}, which is not known.`,
  );
}
