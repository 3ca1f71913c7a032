import { describe, expect, test } from 'bun:test';
import { type AgentEvent, GoondanError } from '@goondan/types';
import { agentLanguage } from '../codec.ts';
import { connectInMemory, type InMemoryOptions } from '../../testing/connect-in-memory.ts';
import type { FromAgent } from '../from-agent.ts';
import type { ToAgent } from '../to-agent.ts';
import { Channel } from './channel.ts';
import { memoryFrameFiles } from '../../testing/memory-frame-files.ts';
import { memoryWires } from '../../testing/memory-wire.ts';
import type { Wire, WireEvents } from './wire.ts';

const event: AgentEvent = {
  id: 'event-1',
  type: 'message',
  instanceKey: 'default',
  source: { kind: 'cli', name: 'gdn' },
  traceId: 'trace-1',
  createdAt: new Date('2026-03-04T05:06:07.089Z'),
};

const pair = (options?: InMemoryOptions) => connectInMemory(agentLanguage, options);
const delta = (stepIndex: number, text = 'x'): FromAgent => ({
  type: 'delta',
  eventId: 'e',
  delta: { type: 'text', text, turnId: 't', stepId: 's', stepIndex },
});

/** Collects the arriving messages. `until` waits until this many messages have arrived. */
function listen<Out, In>(channel: Channel<Out, In>) {
  const messages: In[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  channel.onMessage((message) => {
    messages.push(message);
    for (const { count, resolve } of waiting) if (messages.length >= count) resolve();
  });
  return {
    messages,
    until: (count: number) =>
      new Promise<void>((resolve) => {
        if (messages.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
  };
}

const closing = (channel: Pick<Channel<never, unknown>, 'onClose'>) =>
  new Promise<void>((resolve) => channel.onClose(resolve));
const codeOf = (sent: Promise<unknown>) =>
  sent.then(
    () => 'sent',
    (error: unknown) => (error instanceof GoondanError ? error.code : error),
  );

describe('a channel', () => {
  test('carries messages both ways, in order, dates as dates', async () => {
    const [parent, child] = pair();
    const down = listen(child);
    const up = listen(parent);
    const wanted = Array.from({ length: 500 }, (_, seq): ToAgent => ({ type: 'turn', event, seq }));
    await Promise.all([...wanted.map((message) => parent.send(message)), child.send({ type: 'drained' })]);
    await Promise.all([down.until(500), up.until(1)]);
    expect(down.messages).toEqual(wanted);
    expect(up.messages).toEqual([{ type: 'drained' }]);
  });

  test('holds messages until there is a listener', async () => {
    const [parent, child] = pair();
    await child.send({ type: 'pong', n: 1 });
    await Bun.sleep(5);
    const up = listen(parent);
    await up.until(1);
    expect(up.messages).toEqual([{ type: 'pong', n: 1 }]);
  });

  test('calls every listener, and none that was removed', async () => {
    const [parent, child] = pair();
    const first = listen(parent);
    let second = 0;
    const takeOff = parent.onMessage(() => (second += 1));
    await child.send({ type: 'pong', n: 1 });
    await first.until(1);
    takeOff();
    await child.send({ type: 'pong', n: 2 });
    await first.until(2);
    expect(second).toBe(1);
  });

  test('sends a message too long for a frame by file', async () => {
    const [parent, child] = pair();
    const down = listen(child);
    const input = 'é'.repeat(2_500_000);
    await parent.send({ type: 'turn', event: { ...event, input }, seq: 1 });
    await parent.send({ type: 'ping', n: 2 });
    await down.until(2);
    expect(down.messages).toEqual([
      { type: 'turn', event: { ...event, input }, seq: 1 },
      { type: 'ping', n: 2 },
    ]);
  });

  test('rejects a message too long even for a file', async () => {
    const [parent] = pair({ limits: { longestFile: 1_000 } });
    expect(await codeOf(parent.send({ type: 'start', plan: { text: 'x'.repeat(1_000) } }))).toBe('E_IPC_SIZE');
  });

  test('sends a long message by file, which has the same frame as the wire would have', async () => {
    const files = memoryFrameFiles();
    const stored: string[] = [];
    const store = (message: Uint8Array) => {
      stored.push(Buffer.from(message).toString());
      return files.store(message);
    };
    const [parent, child] = pair({ limits: { longestFrame: 100 }, files: { ...files, store } });
    const down = listen(child);
    const message: ToAgent = { type: 'cancel', eventId: 'e', reason: 'x'.repeat(100) };
    await parent.send(message);
    await down.until(1);
    expect(down.messages).toEqual([message]);
    expect(stored).toEqual([agentLanguage.parent.encode(message)]);
  });

  test('waits for the other side, up to a limit', async () => {
    const [parent, child] = pair({ room: 100, limits: { mostWaiting: 10 } });
    const sent = Array.from({ length: 20 }, (_, n) => codeOf(parent.send({ type: 'ping', n })));
    const first = await Promise.race([sent[9], Bun.sleep(10)]);
    expect(first).toBeUndefined();
    const down = listen(child);
    const codes = await Promise.all(sent);
    const taken = codes.filter((code) => code === 'sent').length;
    expect(codes.slice(taken)).toEqual(Array.from({ length: 20 - taken }, () => 'E_IPC_FULL'));
    await down.until(taken);
    expect(down.messages).toEqual(Array.from({ length: taken }, (_, n) => ({ type: 'ping', n })));
    expect(taken).toBeGreaterThanOrEqual(10);
    expect(taken).toBeLessThan(20);
  });

  test('drops deltas, logs and events before anything else, and counts them', async () => {
    const [parent, child] = pair({ room: 100, limits: { mostLossy: 50 } });
    const sent = Array.from({ length: 1_000 }, async (_, index) => child.send(delta(index)));
    sent.push(child.send({ type: 'pong', n: 1 }));
    const up = listen(parent);
    await Promise.all(sent);
    await up.until(52);
    const indices = up.messages.flatMap((message) => (message.type === 'delta' ? [message.delta.stepIndex] : []));
    const dropped = up.messages.reduce((sum, each) => sum + (each.type === 'dropped' ? each.counts.delta : 0), 0);
    expect(indices.length + dropped).toBe(1_000);
    expect(dropped).toBeGreaterThan(900);
    // The last 50 deltas are kept. Only 49 of them are in a row, because one was already being written.
    expect(indices.slice(-49)).toEqual(Array.from({ length: 49 }, (_, index) => 951 + index));
    expect(up.messages.at(-1)).toEqual({ type: 'pong', n: 1 });
  });

  test('drops a delta that is too long for a frame', async () => {
    const [parent, child] = pair({ limits: { longestFrame: 1_000 } });
    const up = listen(parent);
    await child.send(delta(1, 'x'.repeat(1_000)));
    await up.until(1);
    expect(up.messages).toEqual([{ type: 'dropped', counts: { delta: 1, log: 0, 'runtime.event': 0 } }]);
  });

  test('reads no faster than its rate, and loses nothing by that', async () => {
    const [parent, child] = pair({ limits: { framesPerSecond: 1_000 } });
    const up = listen(parent);
    const startedAt = performance.now();
    for (let n = 0; n < 500; n++) await child.send({ type: 'pong', n });
    await up.until(500);
    // The frames of the first quarter of a second may arrive at once; the others have to wait.
    expect(performance.now() - startedAt).toBeGreaterThan(200);
    expect(up.messages).toEqual(Array.from({ length: 500 }, (_, n) => ({ type: 'pong', n })));
  });

  test('counts bytes, too', async () => {
    const [parent, child] = pair({ limits: { bytesPerSecond: 100_000 } });
    const up = listen(parent);
    const startedAt = performance.now();
    for (let n = 0; n < 12; n++) await child.send({ type: 'call.cancelled', callId: 'x'.repeat(4_000) });
    await up.until(12);
    expect(performance.now() - startedAt).toBeGreaterThan(200);
  });

  test('when a wire closes during a paced read, senders learn it at once and listeners at the end', async () => {
    const wires: WireEvents[] = [];
    const channel = new Channel({
      wire: (events) => {
        wires.push(events);
        return { write: () => 0, pause: () => undefined, resume: () => undefined, end: () => undefined };
      },
      codec: agentLanguage.parent,
      files: memoryFrameFiles(),
      limits: { framesPerSecond: 1_000 },
    });
    const up = listen(channel);
    const sent = codeOf(channel.send({ type: 'ping', n: 1 }));
    wires[0]?.data(Buffer.from('{"type":"drained"}\n'.repeat(400)));
    wires[0]?.closed();
    expect(await sent).toBe('E_IPC_CLOSED');
    expect(channel.isClosed).toBe(false);
    await closing(channel);
    expect(up.messages).toHaveLength(400);
  });

  test('delivers the last messages of a side that closed during a paced read', async () => {
    const [parent, child] = pair({ limits: { framesPerSecond: 1_000 } });
    const up = listen(parent);
    for (let n = 0; n < 400; n++) await child.send({ type: 'pong', n });
    child.close();
    await closing(parent);
    expect(up.messages).toHaveLength(400);
  });
});

describe('a closing channel', () => {
  test('is reported at both ends, once, also to late listeners', async () => {
    const [parent, child] = pair();
    listen(child);
    let told = 0;
    parent.onClose(() => (told += 1));
    child.onClose(() => (told += 1));
    parent.close();
    parent.close();
    await closing(child);
    await Bun.sleep(5);
    expect(told).toBe(2);
    parent.onClose(() => (told += 1));
    expect(told).toBe(3);
    expect([parent.isClosed, child.isClosed]).toEqual([true, true]);
  });

  test('rejects new and waiting messages', async () => {
    const [parent, child] = pair({ room: 50 });
    const waiting = Array.from({ length: 5 }, (_, n) => codeOf(parent.send({ type: 'ping', n })));
    child.close();
    expect((await Promise.all(waiting)).at(-1)).toBe('E_IPC_CLOSED');
    expect(await codeOf(parent.send({ type: 'ping', n: 9 }))).toBe('E_IPC_CLOSED');
  });

  test('ignores lossy messages', async () => {
    const [, child] = pair();
    child.close();
    expect(await codeOf(child.send(delta(1)))).toBe('sent');
  });

  test('has sent everything after a flush', async () => {
    const [parent, child] = pair({ room: 50 });
    const up = listen(parent);
    for (let n = 0; n < 100; n++) void child.send({ type: 'pong', n });
    await child.closeAfterFlush();
    await closing(parent);
    expect(up.messages).toHaveLength(100);
  });
});

describe('an invalid frame', () => {
  function overRawWire() {
    const [wire, other] = memoryWires();
    const files = memoryFrameFiles();
    const raw: Wire = other({ data: () => undefined, drain: () => undefined, closed: () => undefined });
    const channel = new Channel({ wire, codec: agentLanguage.parent, files, limits: { longestFrame: 100 } });
    const refusals: string[] = [];
    channel.onRefused(({ code, message }) => refusals.push(`${code}: ${message}`));
    return { channel, refusals, write: (text: string | Uint8Array) => raw.write(Buffer.from(text)) };
  }

  test.each([
    ['{"type":"start","plan":{}}\n', /^E_IPC_FRAME: A frame "start" is malformed: type is "start", not one of ready/],
    [Uint8Array.of(0x22, 0xff, 0x22, 0x0a), 'E_IPC_FRAME: A frame is not UTF-8.'],
    [`{"type":"log","line":"${'x'.repeat(1_000)}"}\n`, 'E_IPC_SIZE: A frame is longer than 100 bytes.'],
    ['{"file":"../../../etc/passwd"}\n', 'E_IPC_FRAME: A frame names a file that does not exist.'],
    ['\n', 'E_IPC_FRAME: A frame is not JSON.'],
    ['{"type":"call"\n', 'E_IPC_FRAME: A frame is not JSON.'],
    ['['.repeat(90) + '\n', 'E_IPC_FRAME: A frame is not JSON.'],
    ['[]\n', /^E_IPC_FRAME: A frame "\?" is malformed/],
    ['{"type":"__proto__"}\n', /^E_IPC_FRAME: A frame "__proto__" is malformed/],
    ['{"type":"pong","n":"1"}\n', /^E_IPC_FRAME: A frame "pong" is malformed/],
  ])('is rejected with a code, and closes the channel: %#', async (frame, problem) => {
    const { channel, refusals, write } = overRawWire();
    const up = listen(channel);
    write('{"type":"pong","n":1}\n');
    write(frame);
    write('{"type":"drained"}\n');
    await closing(channel);
    await Bun.sleep(5);
    expect(refusals).toEqual([expect.stringMatching(problem)]);
    expect(up.messages).toEqual([{ type: 'pong', n: 1 }]);
  });
});
