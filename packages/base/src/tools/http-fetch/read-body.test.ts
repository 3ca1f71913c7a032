import { describe, expect, test } from 'bun:test';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { readBody } from './read-body.ts';

/** Fakes the parts of a response that matter for reading its body. */
function answerOf(bytes: Uint8Array, encoding?: string): IncomingMessage {
  const stream = Readable.from([bytes], { objectMode: false });
  return Object.assign(stream, { headers: { 'content-encoding': encoding } }) as unknown as IncomingMessage;
}

describe('a body', () => {
  test('is read to its end, or to its limit', async () => {
    const bytes = Buffer.from('0123456789');
    expect(await readBody(answerOf(bytes), 10)).toEqual({ bytes, isCut: false });
    expect(await readBody(answerOf(bytes), 9)).toEqual({ bytes: bytes.subarray(0, 9), isCut: true });
    expect(await readBody(answerOf(gzipSync(bytes), 'GZIP '), 10)).toEqual({ bytes, isCut: false });
  });

  const megabytes = Buffer.alloc(10_000_000);
  const bombs = {
    // This body unpacks to a thousand megabytes, because gzip files may be concatenated.
    gzip: Buffer.concat(Array.from({ length: 100 }, () => gzipSync(megabytes))),
    br: brotliCompressSync(Buffer.alloc(100_000_000), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  };

  test.each(['gzip', 'br'] as const)('is not unpacked into memory when it is a bomb of %s', async (encoding) => {
    Bun.gc(true);
    const before = process.memoryUsage().rss;
    const { bytes, isCut } = await readBody(answerOf(bombs[encoding], encoding), 1_000_000);
    expect({ length: bytes.length, isCut }).toEqual({ length: 1_000_000, isCut: true });
    expect(process.memoryUsage().rss - before).toBeLessThan(60_000_000);
  });
});
