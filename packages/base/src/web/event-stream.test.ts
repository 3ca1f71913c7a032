import { describe, expect, test } from 'bun:test';
import { EventStream } from './event-stream.ts';

function open(over: { mostWaiting?: number; beatMs?: number } = {}) {
  let lefts = 0;
  const stream = new EventStream({ left: () => void (lefts += 1), ...over });
  return { stream, lefts: () => lefts };
}

describe('an event stream', () => {
  test('gives what was sent, in order, and ends', async () => {
    const { stream, lefts } = open();
    stream.send({ a: 1 }, 'first');
    const response = stream.response({ 'X-More': 'yes' });
    stream.send('[DONE]');
    stream.send({ text: 'a\nb' }, 'last');
    stream.end();
    stream.send('too late');
    expect(await response.text()).toBe(
      'event: first\ndata: {"a":1}\n\ndata: [DONE]\n\nevent: last\ndata: {"text":"a\\nb"}\n\n',
    );
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(response.headers.get('x-more')).toBe('yes');
    expect(lefts()).toBe(0);
  });

  test('tells once when its reader leaves, and not after its end', async () => {
    const early = open();
    const reader = early.stream.response().body?.getReader();
    early.stream.send('x');
    await reader?.read();
    await reader?.cancel();
    early.stream.send('x');
    early.stream.end();
    expect(early.lefts()).toBe(1);
    const late = open();
    const response = late.stream.response();
    late.stream.end();
    await response.body?.cancel();
    expect(late.lefts()).toBe(0);
  });

  test('breaks when its reader does not keep up', async () => {
    const { stream, lefts } = open({ mostWaiting: 100 });
    const response = stream.response();
    for (let n = 0; n < 100; n++) stream.send('0123456789');
    expect(lefts()).toBe(1);
    expect(await response.text().catch((error: unknown) => String(error))).toContain('does not keep up');
  });

  test('is never quiet for long', async () => {
    const { stream } = open({ beatMs: 5 });
    const reader = stream.response().body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    expect(new TextDecoder().decode(value)).toBe(':\n\n');
    await reader?.cancel();
  });
});
