import { describe, expect, test } from 'bun:test';
import { BodyPlaces } from './body-places.ts';
import { readBody, readJson } from './read-body.ts';

const post = (body: ConstructorParameters<typeof Response>[0], headers: Record<string, string> = {}) =>
  new Request('http://localhost/', { method: 'POST', body, headers });
const failure = (work: Promise<unknown>) => work.catch((error: unknown) => error);

describe('a body', () => {
  test('arrives as it was sent, in any pieces', async () => {
    const pieces = ['{"a"', ':', '"é"}'].map((piece) => new TextEncoder().encode(piece));
    const body = new ReadableStream({
      pull: (controller) => {
        const piece = pieces.shift();
        if (piece === undefined) controller.close();
        else controller.enqueue(piece);
      },
    });
    expect(new TextDecoder().decode(await readBody(post(body)))).toBe('{"a":"é"}');
    expect(await readBody(new Request('http://localhost/'))).toEqual(new Uint8Array(0));
  });

  test('is read up to exactly the longest length; one byte more is rejected', async () => {
    expect(await readBody(post('x'.repeat(10)), { longest: 10 })).toHaveLength(10);
    expect(await failure(readBody(post('x'.repeat(11)), { longest: 10 }))).toMatchObject({ status: 413 });
  });

  test('is not read when it announces too long a length', async () => {
    let isRead = false;
    const body = new ReadableStream({ pull: () => void (isRead = true) }, { highWaterMark: 0 });
    const request = post(body, { 'content-length': '1000001' });
    expect(await failure(readBody(request))).toMatchObject({ status: 413, headers: { Connection: 'close' } });
    expect(isRead).toBe(false);
  });

  test('is not waited for when it never ends', async () => {
    const body = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(1)) });
    expect(await failure(readBody(post(body), { withinMs: 20 }))).toMatchObject({ status: 408, code: 'E_HTTP_SLOW' });
  });

  test('keeps its place when a request without a body, or with one that is too long, comes in', async () => {
    const slow = new TransformStream<Uint8Array, Uint8Array>();
    const places = new BodyPlaces(1, () => undefined);
    const first = readBody(post(slow.readable), { places });
    const tooLong = new Request('http://localhost', { method: 'POST', body: 'xx', headers: { 'content-length': '2' } });
    expect(await failure(readBody(tooLong, { places, longest: 1 }))).toMatchObject({ code: 'E_HTTP_SIZE' });
    expect(await readBody(new Request('http://localhost'), { places })).toHaveLength(0);
    const writer = slow.writable.getWriter();
    await writer.write(Buffer.from('late'));
    await writer.close();
    expect(Buffer.from(await first).toString()).toBe('late');
  });

  test('makes room for the next when all places are taken and it has been arriving for longest', async () => {
    const coming = () => {
      let send = (_text: string) => {};
      const body = new ReadableStream({
        start: (controller) => {
          send = (text) => {
            controller.enqueue(new TextEncoder().encode(text));
            controller.close();
          };
        },
      });
      return { request: post(body), send: (text: string) => send(text) };
    };
    const places = new BodyPlaces(2, () => undefined);
    const [first, second, third] = [coming(), coming(), coming()];
    const ends = [first, second, third].map(({ request }) => failure(readBody(request, { places })));
    expect(await ends[0]).toMatchObject({ status: 408, code: 'E_HTTP_SLOW', headers: { Connection: 'close' } });
    expect(places.size).toBe(2);
    second.send('two');
    third.send('three');
    expect(await Promise.all(ends.slice(1))).toEqual([Buffer.from('two'), Buffer.from('three')]);
    expect(places.size).toBe(0);
  });

  test('makes room for one other body only: each new body ends one', async () => {
    const places = new BodyPlaces(2, () => undefined);
    const given: string[] = [];
    const hold = (name: string) =>
      places.hold(
        () => void given.push(name),
        () => new Promise<never>(() => undefined),
      );
    for (const name of ['first', 'second', 'third', 'fourth']) void hold(name);
    expect(given).toEqual(['first', 'second']);
  });

  test('is rejected after its arrival when too many requests are being answered by then', async () => {
    const full = new Error('full');
    const places = new BodyPlaces(2, () => {
      throw full;
    });
    expect(await failure(readBody(post('x'), { places }))).toBe(full);
    expect(places.size).toBe(0);
  });

  test('is rejected when it breaks off', async () => {
    const body = new ReadableStream({ start: (controller) => controller.error(new Error('gone')) });
    expect(await failure(readBody(post(body)))).toMatchObject({ status: 400, code: 'E_HTTP_BODY' });
  });

  test('is JSON of the right type, with any parameters', async () => {
    const type = { 'content-type': 'Application/JSON; charset=utf-8' };
    expect(await readJson(post('{"a":1}', type))).toEqual({ a: 1 });
    expect(await failure(readJson(post('{}', { 'content-type': 'text/plain' })))).toMatchObject({ status: 415 });
    expect(await failure(readJson(post('{}', { 'content-type': 'application/json-patch' })))).toMatchObject({
      status: 415,
    });
    expect(await failure(readJson(post('null', type)))).toMatchObject({ status: 400 });
    const latin1 = Buffer.from('{"a":"é"}', 'latin1');
    expect(await failure(readJson(post(latin1, type)))).toMatchObject({ status: 400, code: 'E_HTTP_BODY' });
  });
});
