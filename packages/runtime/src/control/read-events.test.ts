import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { readEvents } from './read-events.ts';

describe('the events of a stream', () => {
  test('come one by one, without comments', async () => {
    const text =
      ': watching\n\nevent: log\ndata: {"a":"é"}\n\n:\n\ndata: 1\n\nevent: nothing\n\nevent: stopped\ndata: {}\n\n';
    expect(await readAll(Buffer.from(text), [])).toEqual([
      { event: 'log', data: { a: 'é' } },
      { event: 'message', data: 1 },
      { event: 'stopped', data: {} },
    ]);
  });

  test('do not depend on how the bytes were split; an incomplete last one is ignored', async () => {
    const events = fc.array(fc.record({ event: fc.constantFrom('delta', 'log'), data: fc.jsonValue() }), {
      maxLength: 5,
    });
    await fc.assert(
      fc.asyncProperty(events, fc.array(fc.nat(200), { maxLength: 5 }), async (sent, cuts) => {
        const text = sent.map(({ event, data }) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join('');
        const expected = JSON.parse(JSON.stringify(sent)) as Awaited<ReturnType<typeof readAll>>;
        expect(await readAll(Buffer.from(`${text}event: half\ndata: 1\n`), cuts)).toEqual(expected);
      }),
    );
  });

  test('are an error with a code when they are malformed', async () => {
    const nonsense = Buffer.from('data: {\n\n');
    expect(readAll(nonsense, [])).rejects.toMatchObject({ code: 'E_CONTROL_ANSWER' });
    const endless = Buffer.alloc(64_000_001, 'x');
    expect(readAll(endless, [])).rejects.toMatchObject({ code: 'E_CONTROL_ANSWER' });
  });
});

async function readAll(bytes: Uint8Array, cuts: readonly number[]) {
  const ends = [...cuts.map((cut) => cut % bytes.length), bytes.length].toSorted((a, b) => a - b);
  async function* pieces() {
    for (const [index, end] of ends.entries()) yield bytes.subarray(ends[index - 1] ?? 0, end);
  }
  return Array.fromAsync(readEvents(pieces()));
}
