import { describe, expect, test } from 'bun:test';
import { GoondanError } from '@goondan/types';
import fc from 'fast-check';
import type { LossyKind } from '../codec.ts';
import { channelLimits } from '../limits.ts';
import { SendQueue } from './send-queue.ts';

/**
 * Creates a queue over a wire that accepts `room` bytes. After that the wire waits until the test allows more. With
 * `isGathering`, frames are written when the test calls `endTick`.
 */
function queueOver(room: number, limits = {}, isGathering = false) {
  let free = room;
  let taken = '';
  const writes: string[] = [];
  const due: (() => void)[] = [];
  const queue = new SendQueue({
    ...(isGathering ? { later: (write: () => void) => void due.push(write) } : {}),
    limits: { ...channelLimits, ...limits },
    write: (bytes) => {
      if (free < 0) return -1;
      const count = Math.min(free, bytes.length);
      free -= count;
      taken += Buffer.from(bytes.subarray(0, count)).toString();
      if (count > 0) writes.push(Buffer.from(bytes.subarray(0, count)).toString());
      return count;
    },
    noteFor: (counts) => Buffer.from(`(${counts.delta}d ${counts.log}l ${counts['runtime.event']}e)`),
  });
  return {
    queue,
    push: (text: string, lossy?: LossyKind) => queue.push(Buffer.from(text), text.length, lossy),
    taken: () => taken,
    writes,
    endTick: () => {
      for (const write of due.splice(0)) write();
    },
    makeRoom: (more = Number.POSITIVE_INFINITY) => {
      free += more;
      queue.pump();
    },
  };
}

describe('the queue of a channel', () => {
  test('writes at once when there is room', async () => {
    const { push, taken } = queueOver(10);
    await push('abc');
    expect(taken()).toBe('abc');
  });

  test('keeps the order, and finishes a frame that the wire has begun', async () => {
    const { push, taken, makeRoom } = queueOver(4);
    const sent = [push('abc'), push('def', 'log'), push('ghi')];
    expect(taken()).toBe('abcd');
    makeRoom(3);
    expect(taken()).toBe('abcdefg');
    makeRoom();
    await Promise.all(sent);
    expect(taken()).toBe('abcdefghi');
  });

  test('drops the oldest lossy frames, reports the number, and resolves them', async () => {
    const { push, taken, makeRoom } = queueOver(0, { mostLossy: 2 });
    const must = push('A');
    const lossy = ['1', '2', '3', '4', '5'].map((text) => push(text, text === '2' ? 'log' : 'delta'));
    const last = push('B');
    await Promise.all(lossy.slice(0, 3));
    makeRoom();
    await Promise.all([must, last, ...lossy]);
    expect(taken()).toBe('A(2d 1l 0e)45B');
  });

  test('drops by bytes too', () => {
    const { push, taken, makeRoom } = queueOver(0, { mostLossyBytes: 5 });
    void push('x');
    void push('aaa', 'delta');
    void push('bbb', 'delta');
    makeRoom();
    expect(taken()).toBe('x(1d 0l 0e)bbb');
  });

  test('does not drop a half written frame', () => {
    const { push, taken, makeRoom } = queueOver(1, { mostLossy: 2 });
    void push('aa', 'log');
    void push('bb', 'log');
    void push('cc', 'log');
    makeRoom();
    expect(taken()).toBe('aa(0d 1l 0e)cc');
  });

  test('reports dropped frames even if nothing follows, and is empty after that', async () => {
    const { queue, taken, makeRoom } = queueOver(3);
    queue.drop('delta');
    expect(taken()).toBe('(1d');
    const emptied = queue.empty().then(() => taken());
    await Bun.sleep(0);
    makeRoom();
    expect(await emptied).toBe('(1d 0l 0e)');
  });

  test('rejects with a code a frame that must arrive and has no room', () => {
    const { queue, push } = queueOver(0, { mostWaiting: 2, mostWaitingBytes: 10 });
    queue.checkRoom(100);
    void push('a');
    expect(() => queue.checkRoom(10)).toThrow(GoondanError);
    queue.checkRoom(9);
    void push('b');
    expect(() => queue.checkRoom(1)).toThrow('2 messages (2 bytes) wait to be sent');
  });

  test('rejects waiting frames when the wire closes, and resolves lossy ones', async () => {
    const { queue, push } = queueOver(0);
    const must = push('a');
    const lossy = push('b', 'log');
    const emptied = queue.empty();
    queue.fail(new GoondanError('E_IPC_CLOSED', 'gone'));
    expect(await must.catch((error: unknown) => error)).toMatchObject({ code: 'E_IPC_CLOSED' });
    await lossy;
    await emptied;
  });

  test('writes the frames of a tick together, in order', async () => {
    const { push, writes, endTick } = queueOver(1_000, {}, true);
    const sent = [push('abc'), push('def', 'log'), push('ghi')];
    expect(writes).toEqual([]);
    endTick();
    await Promise.all(sent);
    void push('jkl');
    endTick();
    expect(writes).toEqual(['abcdefghi', 'jkl']);
  });

  test('writes each frame on its own if nothing gathers them', () => {
    const { push, writes, makeRoom } = queueOver(0);
    for (const text of ['abc', 'def', 'ghi']) void push(text);
    makeRoom();
    expect(writes).toEqual(['abc', 'def', 'ghi']);
  });

  test('writes before the end of a tick once 64 KB are queued, and no write is larger', () => {
    const { push, writes, endTick } = queueOver(Number.POSITIVE_INFINITY, {}, true);
    for (let index = 0; index < 20; index += 1) void push('x'.repeat(10_000));
    expect(writes.length).toBeGreaterThan(0);
    endTick();
    expect(writes.join('')).toHaveLength(200_000);
    expect(Math.max(...writes.map(({ length }) => length))).toBeLessThanOrEqual(64 * 1_024);
  });

  test('applies its limits only to frames that the wire did not accept', () => {
    const { queue, push, writes } = queueOver(1_000, { mostWaiting: 2, mostLossy: 2 }, true);
    for (const text of ['a', 'b', 'c', 'd']) {
      queue.checkRoom(1);
      void push(text);
    }
    for (const text of ['1', '2', '3', '4', '5']) void push(text, 'delta');
    queue.flush();
    expect(writes.join('')).toBe('abcd12345');
  });

  test.each([false, true])(
    'never loses or reorders frames that must arrive, and counts every loss (%p)',
    (isGathering) => {
      const sends = fc.array(fc.record({ lossy: fc.boolean(), room: fc.nat(3) }), { maxLength: 200 });
      fc.assert(
        fc.property(sends, (list) => {
          const { push, taken, makeRoom, endTick } = queueOver(0, { mostLossy: 3 }, isGathering);
          list.forEach(({ lossy, room }, index) => {
            void push(lossy ? `<${index}>` : `[${index}]`, lossy ? 'delta' : undefined);
            if (index % 3 === 0) endTick();
            makeRoom(room);
          });
          makeRoom();
          const indices = (pattern: RegExp) => [...taken().matchAll(pattern)].map(([, index]) => Number(index));
          const must = list.flatMap(({ lossy }, index) => (lossy ? [] : [index]));
          expect(indices(/\[(\d+)\]/g)).toEqual(must);
          const arrived = indices(/<(\d+)>/g);
          expect(arrived).toEqual(arrived.toSorted((a, b) => a - b));
          const lost = indices(/\((\d+)d/g).reduce((sum, count) => sum + count, 0);
          expect(arrived.length + lost).toBe(list.length - must.length);
        }),
        { numRuns: 300 },
      );
    },
  );
});
