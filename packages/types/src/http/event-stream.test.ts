import { describe, expect, test } from 'bun:test';
import { boundedQueue, encodeEvent, EventStream, type EventStreamDeps } from './event-stream.ts';

function open(deps: EventStreamDeps<unknown> = {}) {
  let overs = 0;
  const stream = new EventStream(deps);
  stream.onOver(() => (overs += 1));
  const send = (data: unknown, event?: string) => stream.send(encodeEvent(data, event));
  return { stream, send, overs: () => overs };
}

describe('an event stream', () => {
  test('sends events in order, and ends', async () => {
    const { stream, send, overs } = open();
    send({ a: 1 }, 'first');
    const response = stream.response({ 'X-More': 'yes' });
    send('[DONE]');
    send({ text: 'a\nb' }, 'last');
    stream.end();
    send('too late');
    expect(await response.text()).toBe(
      'event: first\ndata: {"a":1}\n\ndata: [DONE]\n\nevent: last\ndata: {"text":"a\\nb"}\n\n',
    );
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(response.headers.get('x-more')).toBe('yes');
    expect(overs()).toBe(1);
  });

  test('reports its end once, whichever side ended it', async () => {
    const early = open();
    const reader = early.stream.response().body?.getReader();
    early.send('x');
    await reader?.read();
    await reader?.cancel();
    early.send('x');
    early.stream.end();
    expect(early.overs()).toBe(1);
    const late = open();
    const response = late.stream.response();
    late.stream.end();
    await response.body?.cancel();
    expect(late.overs()).toBe(1);
    let isOver = false;
    late.stream.onOver(() => (isOver = true));
    expect(isOver).toBe(true);
  });

  test('breaks when its reader is too slow', async () => {
    const { stream, send, overs } = open({ queue: (write) => boundedQueue(write, 100) });
    const response = stream.response();
    for (let n = 0; n < 100; n++) send('0123456789');
    expect(overs()).toBe(1);
    expect(await response.text().catch((error: unknown) => String(error))).toContain('does not keep up');
  });

  test('may send more than fits into its queue to a reader that keeps up', async () => {
    const { stream, send, overs } = open({ queue: (write) => boundedQueue(write, 100) });
    const reader = stream.response().body?.getReader();
    for (let n = 0; n < 100; n++) {
      send('0123456789');
      await reader?.read();
    }
    expect(overs()).toBe(0);
    await reader?.cancel();
  });

  test('adds no comments to the queue of a reader that does not read', async () => {
    const beats: (() => void)[] = [];
    const clock = { after: (_ms: number, action: () => void) => (beats.push(action), () => undefined) };
    const { stream, send } = open({ clock });
    const response = stream.response();
    for (let n = 0; n < 3; n++) beats.shift()?.();
    send('after a while');
    stream.end();
    expect(await response.text()).toBe('data: after a while\n\n');
  });

  test('sends a comment when it is quiet for too long', async () => {
    const { stream } = open({ beatMs: 5 });
    const reader = stream.response().body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    expect(new TextDecoder().decode(value)).toBe(':\n\n');
    await reader?.cancel();
  });
});
