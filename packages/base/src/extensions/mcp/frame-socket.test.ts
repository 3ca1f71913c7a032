import { describe, expect, test } from 'bun:test';
import type { JsonValue } from '@goondan/types';
import { FrameSocket } from './frame-socket.ts';
import { LONGEST_FRAME } from './kept-frames.ts';

/** A socket whose reader takes at most `room` bytes at a time. With less than 0, the socket accepts nothing for now. */
function open(room: number) {
  const state = { room, written: '', isEnded: false };
  const frames: JsonValue[] = [];
  const problems: string[] = [];
  const socket = {
    write(bytes: Uint8Array) {
      if (state.room < 0) return -1;
      const taken = bytes.subarray(0, state.room);
      state.written += Buffer.from(taken).toString();
      return taken.length;
    },
    terminate: () => void (state.isEnded = true),
  };
  // The cast is safe: only these two methods are used.
  const own = new FrameSocket(socket as unknown as Bun.Socket<unknown>, {
    onFrame: (frame) => void frames.push(frame),
    onClosed: (problem) => void problems.push(problem),
  });
  return { own, state, frames, problems };
}

describe('a socket of frames', () => {
  test('L-02 keeps the order of its frames for a reader that is slow', () => {
    const { own, state } = open(3);
    own.send({ a: 1 });
    own.send({ b: 'ä' });
    expect(state.written.length).toBeLessThan(10);
    for (let times = 0; times < 10; times += 1) own.drain();
    expect(state.written).toBe('{"a":1}\n{"b":"ä"}\n');
  });

  test('L-02 ends when too much waits for a reader that reads nothing, and says so once', () => {
    const { own, state, problems } = open(0);
    const text = 'x'.repeat(LONGEST_FRAME / 2);
    for (let sent = 0; sent < 12 && !state.isEnded; sent += 1) own.send({ text });
    expect(state.isEnded).toBe(true);
    own.send({ text });
    own.closed();
    expect(problems).toEqual(['it does not read its answers']);
  });

  test('L-02 loses nothing when the socket accepts nothing for a while', () => {
    const { own, state } = open(-1);
    own.send({ a: 1 });
    state.room = 100;
    own.drain();
    expect(state.written).toBe('{"a":1}\n');
  });

  test('L-02 ends when a message has no end', () => {
    const { own, state, problems } = open(0);
    const part = Buffer.alloc(LONGEST_FRAME / 4, 'x');
    for (let received = 0; received < 4; received += 1) own.receive(part);
    expect(state.isEnded).toBe(false);
    own.receive(Uint8Array.of(120));
    expect([state.isEnded, problems.length]).toEqual([true, 1]);
  });

  test('L-02 does not send a message that the other side would not take', () => {
    const { own, state, problems } = open(LONGEST_FRAME);
    expect(own.send({ text: 'x'.repeat(LONGEST_FRAME) })).toBe(false);
    expect(own.send({ a: 1 })).toBe(true);
    expect([state.written, problems]).toEqual(['{"a":1}\n', []]);
  });

  test('reads lines however they arrive, and nothing after it was cut off', () => {
    const { own, frames, problems } = open(0);
    for (const byte of Buffer.from('{"a":1}\n[2]\n')) own.receive(Uint8Array.of(byte));
    own.receive(Buffer.from('{"b":"ä"}\nrubbish\n{"c":3}\n'));
    own.receive(Buffer.from('{"d":4}\n'));
    expect(frames).toEqual([{ a: 1 }, [2], { b: 'ä' }]);
    expect(problems).toEqual(['it sent a line that is not JSON']);
  });
});
