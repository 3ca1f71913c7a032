import { describe, expect, test } from 'bun:test';
import { connectInMemory } from '../testing/connect-in-memory.ts';
import { memoryFrameFiles } from '../testing/memory-frame-files.ts';
import { Channel } from './channel/channel.ts';
import { agentLanguage } from './codec.ts';
import type { FromAgent } from './from-agent.ts';
import { SeatChannel } from './seat-channel.ts';
import { PROCESS_SEAT, seatedLanguage } from './seated-language.ts';

const { parent, child } = seatedLanguage(agentLanguage);
const error = { code: 'E_UNEXPECTED', message: 'x'.repeat(100) } as const;

describe('frames of a shared process', () => {
  test('carry the message and its seat in both directions, and the end of a seat', () => {
    const ping = { seat: 7, message: { type: 'ping', n: 3 } } as const;
    expect(child.decode(parent.encode(ping))).toEqual(ping);
    const pong = { seat: 7, message: { type: 'pong', n: 3 } } as const;
    expect(parent.decode(child.encode(pong))).toEqual(pong);
    expect(parent.decode(child.encode({ seat: 12, exit: 1 }))).toEqual({ seat: 12, exit: 1 });
  });

  test('keep texts that look like frames', () => {
    const reason = '{"seat":1,"message":{"type":"ping","n":1}}';
    const frame = { seat: 2, message: { type: 'cancel', eventId: 'e', reason } } as const;
    expect(child.decode(parent.encode(frame))).toEqual(frame);
  });

  test('arrive by file in both directions, whatever ends the file', async () => {
    const [top, bottom] = connectInMemory({ parent, child }, { limits: { longestFrame: 100 } });
    const [down, up] = [Promise.withResolvers<unknown>(), Promise.withResolvers<unknown>()];
    bottom.onMessage(down.resolve);
    bottom.onRefused(down.reject);
    top.onMessage(up.resolve);
    top.onRefused(up.reject);
    const cancel = { seat: 7, message: { type: 'cancel', eventId: 'e', reason: 'x'.repeat(100) } } as const;
    const lost = { seat: 7, message: { type: 'change.failed', change: 1, error } } as const;
    await Promise.all([top.send(cancel), bottom.send(lost)]);
    expect([await down.promise, await up.promise]).toEqual([cancel, lost]);
    expect(child.decode(`${parent.encode(cancel)}\n`)).toEqual(cancel);
  });

  test.each(['{}', '{"seat":1}', '{"seat":"1","exit":0}', '{"type":"ping","n":1}', '{"seat":1,"exit":0}x', '', '[]'])(
    'are rejected without a seat, a message or an exit: %s',
    (text) => {
      expect(() => parent.decode(text)).toThrow(expect.objectContaining({ code: 'E_IPC_FRAME' }));
    },
  );

  test('are rejected when the message is malformed, or is cut', () => {
    for (const text of ['{"seat":1,"message":{"type":"pong"}}', '{"seat":1,"message":{"type":"pong","n":1}'])
      expect(() => parent.decode(text)).toThrow(expect.objectContaining({ code: 'E_IPC_FRAME' }));
  });

  test('are dropped like the message in them; the process itself reports the number', () => {
    const log = { type: 'log', line: { time: 'now', level: 'info', message: 'm' } } as const;
    expect(child.lossyKindOf({ seat: 3, message: log })).toBe('log');
    expect(child.lossyKindOf({ seat: 3, exit: 0 })).toBeUndefined();
    const counts = { delta: 1, log: 2, 'runtime.event': 3 };
    expect(child.dropped(counts)).toEqual({ seat: PROCESS_SEAT, message: { type: 'dropped', counts } });
  });
});

test('the results of all seats in one tick are one write', async () => {
  const writes: number[] = [];
  const channel = new Channel({
    codec: child,
    files: memoryFrameFiles(),
    wire: () => ({
      write: (bytes) => {
        writes.push(bytes.length);
        return bytes.length;
      },
      pause: () => undefined,
      resume: () => undefined,
      end: () => undefined,
    }),
  });
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  const result = { turnId: 't', finishReason: 'text_response' } as const;
  const sent = Array.from({ length: 20 }, (_, seat) => {
    const seated = new SeatChannel<FromAgent, never>((message) => channel.send({ seat: seat + 1, message }));
    return seated.send({ type: 'turn.done', eventId: `e${seat}`, result, stepCount: 1, usage, begins: 'next' });
  });
  await Promise.all(sent);
  expect(writes).toHaveLength(1);
});
