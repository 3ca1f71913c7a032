import { describe, expect, test } from 'bun:test';
import { encodeFrame } from './frame.ts';
import { readFrames } from './read-frames.ts';

const turn = 'turn-a';
/** Makes frames with one record each. The third says that the first two were durable. */
const frames = [
  encodeFrame({ seq: 1, durable: 0, at: 1, turn }, ['{"type":"resumed"}']),
  encodeFrame({ seq: 2, durable: 0, at: 2, turn }, ['{"type":"resumed"}']),
  encodeFrame({ seq: 3, durable: 2, at: 3, turn }, [
    JSON.stringify({ type: 'intent', key: 'k'.repeat(900), kind: 'tool' }),
  ]),
  encodeFrame({ seq: 4, durable: 3, at: 4, turn, commit: { version: 1 } }),
];
const room = new Uint8Array(600);
const whole = Buffer.concat([...frames, room]);
const starts = frames.map((_, index) => Buffer.concat(frames.slice(0, index)).length);
const end = starts.reduce((_, start, index) => start + (frames[index]?.length ?? 0), 0);

/** Changes some bytes. */
function changed(from: number, to: number, byte: (before: number) => number): Uint8Array {
  const copy = new Uint8Array(whole);
  for (let at = from; at < to; at += 1) copy[at] = byte(copy[at] ?? 0);
  return copy;
}

test('reads the frames, their end, and the offset up to which they were durable', () => {
  const read = readFrames(whole);
  expect(read.frames.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
  expect(read).toMatchObject({ end, durableEnd: starts[3], next: 5, torn: false, hasRoom: true });
  expect(read.damage).toBeUndefined();
});

test('every flipped bit is damage, also in the last frame', () => {
  for (let at = 0; at < end; at += 1) {
    for (const bit of [0, 5]) {
      const { damage } = readFrames(changed(at, at + 1, (byte) => byte ^ (1 << bit)));
      expect({ at, bit, isFound: damage !== undefined }).toEqual({ at, bit, isFound: true });
    }
  }
});

test('a file that was cut anywhere in its frames has damage or no room', () => {
  for (let size = 0; size <= end; size += 1) {
    const { damage, hasRoom, torn } = readFrames(whole.subarray(0, size));
    expect({ size, isFound: damage !== undefined || !hasRoom, torn }).toEqual({ size, isFound: true, torn: false });
  }
  expect(readFrames(whole.subarray(0, end + 1))).toMatchObject({ hasRoom: true, torn: false });
});

test('a space ends a closed file, also while the room behind it is not removed yet', () => {
  for (const rest of [Buffer.from(' '), Buffer.from(' \0\0')]) {
    expect(readFrames(Buffer.concat([...frames, rest]))).toMatchObject({ end, next: 5, torn: false, hasRoom: true });
  }
});

describe('a torn end', () => {
  test('is the beginning of a frame, with room behind it', () => {
    for (let size = (starts[3] ?? 0) + 1; size < end; size += 1) {
      expect(readFrames(changed(size, end, () => 0))).toMatchObject({ torn: true, end: starts[3], next: 4 });
    }
  });

  test('lacks whole blocks of a frame that no later frame calls durable', () => {
    const last = Buffer.concat([...frames.slice(0, 3), room]);
    const lost = (from: number, to: number) => {
      const copy = new Uint8Array(last);
      copy.fill(0, from, to);
      return readFrames(copy);
    };
    expect(lost(512, 1024)).toMatchObject({ torn: true, end: starts[2] });
    expect(lost(starts[2] ?? 0, 512)).toMatchObject({ torn: true, end: starts[2] });
    // Zeros that do not fit to a block are damage.
    expect(lost(520, 1024).damage).toBeDefined();
    expect(lost(512, 1000).damage).toBeDefined();
  });

  test('is damage if a later frame says that it was durable', () => {
    expect(readFrames(changed(512, 1024, () => 0)).damage).toContain('a later frame says that it was durable');
  });

  test('is also left when a cut of it was interrupted', () => {
    const start = starts[3] ?? 0;
    expect(readFrames(changed(start, start + 1, () => 0))).toMatchObject({ torn: true, end: start });
  });
});

test('a gap between the numbers is damage', () => {
  const [first, , third] = frames;
  expect(readFrames(Buffer.concat([first ?? room, third ?? room, room])).damage).toContain('has number 3, not 2');
  expect(readFrames(whole, 0, 2).damage).toContain('has number 1, not 2');
});

test('the work of a read grows with the frames, not with their square', () => {
  const count = 50_000;
  const lines = Array.from({ length: count }, (_, index) =>
    encodeFrame({ seq: index + 1, durable: 0, turn: 't', at: 1 }, ['{}']),
  );
  const read = readFrames(Buffer.concat([...lines, new Uint8Array(1)]), 0, 1);
  expect(read).toMatchObject({ next: count + 1, durableEnd: 0, torn: false, hasRoom: true });
});

test('bytes that no frame begins with are damage, although no line break follows them', () => {
  const line = encodeFrame({ seq: 1, durable: 0, turn: 'tür', at: 1 }, ['{}']);
  const size = line.length - 1;
  const endedBy = (bytes: readonly number[]) =>
    readFrames(Buffer.concat([line.subarray(0, size - 4), Buffer.from(bytes), new Uint8Array(9)]), 0, 1);
  expect(endedBy([0x41, 0xc3])).toMatchObject({ torn: true });
  for (const bytes of [
    [0x41, 0x01],
    [0xff, 0x41],
    [0xc3, 0x41, 0x41],
  ]) {
    expect(endedBy(bytes)).toMatchObject({ torn: false, damage: expect.any(String) });
  }
  expect(readFrames(Buffer.from('garbage\0'), 0, 1)).toMatchObject({ torn: false, damage: expect.any(String) });
  for (let length = 1; length < size; length += 1) {
    expect(readFrames(Buffer.concat([line.subarray(0, length), new Uint8Array(9)]), 0, 1).torn).toBe(true);
  }
});
