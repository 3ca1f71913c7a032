import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { simpleEvent } from '../simulation/simulated-turn.ts';
import { decodeLine, encodeLine, type LineName, type NewLine, nameOf } from './inbox-line.ts';
import { readSegment } from './read-segment.ts';

const address = (key: string) => ({ agentName: 'coder', instanceKey: key });
const eventLine = (key: string, seq: number, id = `${key}${seq}`): NewLine => ({
  to: address(key),
  seq,
  payload: { event: simpleEvent(id) },
});

/** Makes the bytes of a segment with room. `durable`: the number up to which lines were durable, for each line. */
function segment(lines: readonly NewLine[], durable: (n: number) => number = (n) => n - 1, room = 2048): Uint8Array {
  let before: LineName | undefined;
  const texts = lines.map((line, index) => {
    const text = encodeLine(line, { n: index + 1, durable: durable(index + 1), before });
    before = 'note' in line ? undefined : line;
    return text;
  });
  return Buffer.concat([Buffer.from(texts.join('')), new Uint8Array(room)]);
}

const flip = (bytes: Uint8Array, at: number, bit = 1) => {
  const copy = new Uint8Array(bytes);
  copy[at] = (copy[at] ?? 0) ^ bit;
  return copy;
};

/** Returns the offset of the line with this number. */
function offsetOf(bytes: Uint8Array, n: number): number {
  let at = 0;
  for (let line = 1; line < n; line += 1) at = bytes.indexOf(0x0a, at) + 1;
  return at;
}

const three = () => [eventLine('a', 1), eventLine('b', 1), eventLine('c', 1)];

describe('a line of the inbox log', () => {
  test('is read as it was written, whatever its texts are', () => {
    const text = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(text, text, text, fc.nat(), (agentName, instanceKey, input, seq) => {
        const line = { to: { agentName, instanceKey }, seq, payload: { event: simpleEvent('x', { input }) } };
        const bytes = Buffer.from(encodeLine(line, { n: 7, durable: 3, before: line, handled: 2 }));
        const read = decodeLine(bytes.subarray(0, -1));
        expect(read).toMatchObject({ n: 7, durable: 3, handled: 2, seq, size: bytes.length });
        // JSON has no lone surrogates; both sides replace them alike.
        expect(JSON.stringify(read && 'to' in read && read.to)).toBe(
          JSON.stringify(JSON.parse(Buffer.from(JSON.stringify(line.to)).toString())),
        );
      }),
    );
  });

  test('with any changed byte is not intact, and still says whose line it is', () => {
    const line = Buffer.from(encodeLine(eventLine('a', 3), { n: 7, durable: 6 })).subarray(0, -1);
    for (let at = 0; at < line.length; at += 1) {
      for (const bit of [1, 0x80, 0xff]) {
        const changed = flip(line, at, bit);
        expect(decodeLine(changed)).toBeUndefined();
        expect(nameOf(changed)).toMatchObject({ n: 7, name: { to: address('a'), seq: 3 } });
      }
    }
  });

  test('names the line before it, unless that line is about the same instance', () => {
    const to = address('a');
    const text = (before: LineName) =>
      encodeLine({ to, seq: 2, payload: { kept: true } }, { n: 2, durable: 1, before });
    expect(text({ to: address('b'), seq: 9 })).toContain('"before":["coder","b",9]');
    expect(text({ to, seq: 1 })).not.toContain('before');
  });
});

describe('a segment of the inbox log', () => {
  test('ends with room', () => {
    const bytes = segment(three());
    const read = readSegment(bytes, {});
    expect(read.lines.map(({ n }) => n)).toEqual([1, 2, 3]);
    expect(read).toMatchObject({ damaged: [], unnamed: 0, torn: false, next: 4, end: bytes.length - 2048 });
    expect(read.damage).toBeUndefined();
    // The second line says that the first one was durable, and the third one that the second one was.
    expect(read.durableEnd).toBe(offsetOf(bytes, 3));
  });

  test('that was killed in the middle of a write has a torn end, at any byte', () => {
    const bytes = segment(three());
    const start = offsetOf(bytes, 3);
    for (let size = start + 1; size < bytes.length - 2048; size += 1) {
      const cut = new Uint8Array(bytes.length);
      cut.set(bytes.subarray(0, size));
      const read = readSegment(cut, {});
      expect([read.lines.length, read.torn, read.damage, read.end]).toEqual([2, true, undefined, start]);
    }
  });

  test('in which a power loss lost blocks of the last write has a torn end', () => {
    // All lines after the first one are one write.
    const lines = Array.from({ length: 8 }, (_, index) => eventLine(`k${index}`, 1));
    const bytes = segment(lines, (n) => (n === 1 ? 0 : 1));
    const second = offsetOf(bytes, 2);
    const lost = new Uint8Array(bytes);
    lost.fill(0, Math.ceil(second / 512) * 512, Math.ceil(second / 512) * 512 + 512);
    const read = readSegment(lost, {});
    expect([read.torn, read.damage]).toEqual([true, undefined]);
    // A line that was durable, however, is damaged if blocks of it are lost.
    const proven = segment(lines);
    proven.fill(0, Math.ceil(second / 512) * 512, Math.ceil(second / 512) * 512 + 512);
    expect(readSegment(proven, {}).torn).toBe(false);
    expect(readSegment(proven, {}).damage).toBeDefined();
  });

  test('with a torn end says which lines the end still names, also the line behind lost blocks', () => {
    const long = (key: string, input: number): NewLine => ({
      to: address(key),
      seq: 1,
      payload: { event: simpleEvent(key, { input: 'x'.repeat(input) }) },
    });
    const make = (first: number, second: number) => {
      const lines = [long('a', first), long('b', second), ...['c', 'd', 'e'].map((key) => eventLine(key, 1))];
      // All lines after the first one are one write.
      return segment(lines, (n) => (n === 1 ? 0 : 1));
    };
    // The second line has exactly the bytes of whole blocks.
    const first = 1024 - offsetOf(make(100, 100), 2) + 100;
    const second = 1024 - (offsetOf(make(first, 100), 3) - 1024) + 100;
    const bytes = make(first, second);
    expect([offsetOf(bytes, 2), offsetOf(bytes, 3)]).toEqual([1024, 2048]);
    bytes.fill(0, 1024, 2048);
    const read = readSegment(bytes, {});
    expect(read.torn).toBe(true);
    expect(read.tornNames.map(({ to }) => to.instanceKey)).toEqual(['c', 'd', 'e']);
    // Of the line behind the blocks, only the first part is there.
    bytes.fill(0, bytes.indexOf(0x0a, 2048) - 60);
    expect(readSegment(bytes, {}).tornNames).toMatchObject([{ to: address('c') }]);
  });

  test('names the damaged line, also the last one, and reads the others', () => {
    const bytes = segment(three());
    for (const [n, key] of [
      [1, 'a'],
      [2, 'b'],
      [3, 'c'],
    ] as const) {
      const read = readSegment(flip(bytes, offsetOf(bytes, n) + 60), {});
      expect(read.lines.map((line) => line.n)).toEqual([1, 2, 3].filter((each) => each !== n));
      expect(read.damaged).toMatchObject([{ n, name: { to: address(key), seq: 1 } }]);
      expect([read.torn, read.unnamed]).toEqual([false, 0]);
    }
  });

  test('takes the name of an unreadable line from the next one', () => {
    const bytes = segment(three());
    bytes.fill(0x78, offsetOf(bytes, 2), offsetOf(bytes, 3) - 1);
    const read = readSegment(bytes, {});
    expect(read).toMatchObject({ unnamed: 0, damaged: [{ n: 2, name: { to: address('b'), seq: 1 } }] });
  });

  test('counts lines without a name: two unreadable ones in a row, an unreadable last one, a lost end', () => {
    const bytes = segment([...three(), eventLine('d', 1)]);
    const two = new Uint8Array(bytes);
    two.fill(0x78, offsetOf(bytes, 2), offsetOf(bytes, 3) - 1);
    two.fill(0x78, offsetOf(bytes, 3), offsetOf(bytes, 4) - 1);
    expect(readSegment(two, {})).toMatchObject({ unnamed: 1, damaged: [{ n: 3, name: { to: address('c') } }] });
    const last = new Uint8Array(bytes);
    last.fill(0x78, offsetOf(bytes, 4), bytes.length - 2048 - 1);
    expect(readSegment(last, {})).toMatchObject({ unnamed: 1, next: 5, torn: false });
    expect(readSegment(bytes.subarray(0, offsetOf(bytes, 4)), {})).toMatchObject({ unnamed: 1, torn: false });
    expect(readSegment(bytes.subarray(0, offsetOf(bytes, 4)), { until: 4 })).toMatchObject({ unnamed: 1, next: 5 });
  });

  test('ignores a torn end of which the next segment says that it does not count', () => {
    const bytes = segment(three());
    const cut = bytes.subarray(0, offsetOf(bytes, 3) + 40);
    expect(readSegment(cut, { until: 2 })).toMatchObject({ unnamed: 0, damaged: [], torn: false, next: 3 });
    expect(readSegment(cut, { until: 2 }).damage).toBeUndefined();
  });

  test('reports changed bytes of the room, which concern nobody', () => {
    const bytes = segment(three());
    const room = bytes.length - 2048;
    for (const at of [room, room + 1, room + 700, bytes.length - 2]) {
      const read = readSegment(flip(bytes, at, 0x40), {});
      expect([read.lines.length, read.unnamed, read.damaged.length, read.damage !== undefined]).toEqual([
        3,
        0,
        0,
        true,
      ]);
    }
  });
});
