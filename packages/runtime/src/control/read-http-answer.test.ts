import { describe, expect, test } from 'bun:test';
import { readHttpAnswer } from './read-http-answer.ts';

async function* pieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(text: string, size = 3): Promise<string> {
  const response = await readHttpAnswer(pieces(text, size));
  return `${response.status} ${await response.text()}`;
}

const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

describe('an answer over HTTP/1.1', () => {
  test.each([1, 2, 3, 7, 1_000])('is read whole from pieces of %d bytes', async (size) => {
    expect(await read('HTTP/1.1 404 Not Found\r\ncontent-length: 5\r\n\r\nhällo', size)).toBe('404 häll');
    expect(await read(`${chunked}3\r\nabc\r\n00A;x=y\r\n0123456789\r\n0\r\n\r\n`, size)).toBe('200 abc0123456789');
    expect(await read('HTTP/1.1 200 OK\r\n\r\nto the end', size)).toBe('200 to the end');
    expect(await read('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', size)).toBe('200 ');
  });

  test.each([
    ['HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort'],
    [`${chunked}3\r\nabc\r\n`],
    [`${chunked}9\r\nabc`],
    [chunked],
    ['HTTP/1.1 200 OK\r\nContent-'],
    [''],
  ])('that breaks off is an error: %p', async (text) => {
    expect(await read(text).catch(String)).toContain('The answer broke off.');
  });

  test.each([
    ['SSH-2.0-OpenSSH\r\n\r\n'],
    ['HTTP/1.1 999 No\r\n\r\n'],
    [`${chunked}xyz\r\nabc\r\n0\r\n\r\n`],
    [`${chunked}2\r\nabc\r\n0\r\n\r\n`],
    [`${chunked}${'0'.repeat(2_000)}`],
    ['HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n'],
    [`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(70_000)}`],
  ])('that is not HTTP is not understood', async (text) => {
    expect(await read(text, 5_000).catch((error: unknown) => error)).toMatchObject({ code: 'E_CONTROL_ANSWER' });
  });

  test('ends the connection when its reader stops', async () => {
    let isEnded = false;
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        yield Buffer.from(chunked);
        for (;;) yield Buffer.from('1\r\nx\r\n');
      } finally {
        isEnded = true;
      }
    }
    const response = await readHttpAnswer(endless());
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    expect(isEnded).toBe(true);
  });
});
