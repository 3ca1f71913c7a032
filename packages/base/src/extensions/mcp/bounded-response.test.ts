import { expect, test } from 'bun:test';
import { boundedResponse, TOO_LONG } from './bounded-response.ts';

/** Returns the length of the body that arrives, or the problem. `chunks`: an endless body repeats them. */
async function read(chunks: readonly string[], type: string, { status = 200, isEndless = false } = {}) {
  let at = 0;
  let wasCancelled = false;
  const body = new ReadableStream({
    pull(controller) {
      const chunk = chunks[isEndless ? at % chunks.length : at];
      at += 1;
      if (chunk === undefined) controller.close();
      else controller.enqueue(new TextEncoder().encode(chunk));
    },
    cancel: () => void (wasCancelled = true),
  });
  const response = boundedResponse(new Response(body, { status, headers: { 'content-type': type } }), 10);
  const result = await response.text().then(
    ({ length }) => length,
    (error: unknown) => (error instanceof Error ? error.message : ''),
  );
  return { result, wasCancelled };
}

test('N-01 an answer without an end fails at its limit, and is not read further', async () => {
  expect(await read(['12345', '67890'], 'application/json')).toEqual({ result: 10, wasCancelled: false });
  const endless = { isEndless: true };
  expect(await read(['aaaa'], 'application/json', endless)).toEqual({ result: TOO_LONG, wasCancelled: true });
  expect(await read(['aaaa'], 'text/event-stream', endless)).toEqual({ result: TOO_LONG, wasCancelled: true });
  expect(await read(['a\n', ':\r\n'], 'Text/Event-Stream; a=b', endless)).toEqual({
    result: TOO_LONG,
    wasCancelled: true,
  });
});

test('each event of a stream has the whole limit, wherever its end is cut', async () => {
  for (const end of ['\n\n', '\r\n\r\n', '\r\r']) {
    const text = `123456${end}`.repeat(20);
    for (const size of [1, 2, 3, 9, 10]) {
      const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
        text.slice(at * size, (at + 1) * size),
      );
      expect((await read(chunks, 'text/event-stream')).result).toBe(text.length);
    }
  }
});

test('an error answer is cut', async () => {
  const { result, wasCancelled } = await read(['e'.repeat(9_000)], 'text/plain', { status: 500, isEndless: true });
  expect({ result, wasCancelled }).toEqual({ result: 16_000, wasCancelled: true });
});
