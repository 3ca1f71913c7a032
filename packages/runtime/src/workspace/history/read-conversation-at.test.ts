import { expect, test } from 'bun:test';
import { sampleStep } from '../../../../../test/samples.ts';
import { openJournal } from '../journal/journal.ts';
import { defaultLimits } from '../limits.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';
import { seededRandom } from '../simulation/seeded-random.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import { simulatedLocation, simulatedMachine } from '../simulation/simulated-machine.ts';
import { writeRandomHistory } from '../simulation/write-random-history.ts';
import { blame } from './blame.ts';
import { readConversationAt } from './read-conversation-at.ts';
import { type HistoryEvent, readHistory } from './read-history.ts';

const coder = { agentName: 'coder', instanceKey: 'default' };

/** Writes a random history; `files` is the number of rotated files that the archive keeps. */
async function randomHistory(seed: number, files: number, least = 220) {
  const disk = SimulatedDisk.empty();
  const limits = { ...defaultLimits, archive: { bytes: 6000, files } };
  const journal = await openJournal(simulatedMachine(disk, 1), simulatedLocation, limits);
  const expected = await writeRandomHistory(journal, coder, seededRandom(seed), least);
  // The owner may still be deleting an old file. Its own readers wait for that.
  await journal.history(coder);
  // The history is read as by another process, which takes no lock.
  const reader = await openJournal(simulatedMachine(disk, 1), simulatedLocation, limits);
  return { journal, reader, expected, last: expected.events.length };
}

test.each([
  [1, 1000],
  [2, 1000],
  [3, 3],
  [4, 2],
])(
  `at ${sampleStep === 1 ? 'every number' : 'many numbers'} of a history of 220 events the conversation equals an independent fold (seed %i, %i files)`,
  async (seed, files) => {
    const { reader, expected, last } = await randomHistory(seed, files);
    const { start } = await reader.history(coder);
    expect(start.seq > 0).toBe(files < 1000);
    for (let seq = start.seq; seq <= last; seq += 1) {
      if (seq % sampleStep !== 0 && seq !== start.seq && seq !== last) continue;
      const { messages, extensionState, ...found } = await readConversationAt(reader, coder, seq);
      expect({ ...found, messages }).toEqual({ seq, unknownStates: [], messages: expected.conversations[seq] ?? [] });
      expect({ seq, extensionState }).toEqual({ seq, extensionState: expected.states[seq] ?? {} });
    }
    expect((await readConversationAt(reader, coder)).messages).toEqual((await reader.read(coder)).messages);
    const early = rejectionOf(readConversationAt(reader, coder, start.seq - 1));
    expect(await early).toMatchObject({ code: 'E_HISTORY_RANGE' });
    expect(await rejectionOf(readConversationAt(reader, coder, last + 1))).toMatchObject({
      code: 'E_HISTORY_RANGE',
      message: `There is no event ${last + 1}: the newest one is ${last}.`,
    });
  },
  60_000,
);

test('pages contain the events with their permanent numbers', async () => {
  const { journal, reader, expected, last } = await randomHistory(5, 3, 250);
  const all: HistoryEvent[] = [];
  let before: number | undefined;
  for (;;) {
    const page = await readHistory(reader, coder, { limit: 17, ...(before === undefined ? {} : { before }) });
    expect(page.last).toBe(last);
    const events = page.turns.flatMap(({ turnId, events: own }) => own.map((event) => ({ ...event, turnId })));
    if (events.length === 0) break;
    expect(events.length).toBe(Math.min(17, (before ?? last + 1) - page.first));
    all.unshift(...events);
    before = events[0]?.seq ?? 0;
  }
  const { first } = await readHistory(reader, coder);
  expect(first).toBeGreaterThan(1);
  expect(all.map(({ seq }) => seq)).toEqual(Array.from({ length: last - first + 1 }, (_, index) => first + index));
  expect(all.map(({ at: _, seq: __, ...event }) => event)).toMatchObject(expected.events.slice(first - 1));
  for (const { seq, event, target } of all) {
    if (!('targetId' in event)) continue;
    const { event: put } = expected.events[(target ?? 0) - 1] ?? {};
    expect(put !== undefined && 'message' in put && put.message.id).toBe(event.targetId);
    expect(target).toBeLessThan(seq);
  }
  for (let limit = 1; limit <= 20; limit += 1) {
    for (const end of [last, last - 1, last - 5]) {
      const { turns } = await readHistory(reader, coder, { limit, before: end + 1 });
      const numbers = turns.flatMap((turn) => turn.events.map(({ seq }) => seq));
      expect(numbers).toEqual(Array.from({ length: limit }, (_, index) => end - limit + 1 + index));
    }
  }
  await journal.close();
}, 30_000);

test('accepts a turn instead of a number; 0 means before the first event', async () => {
  const { reader, expected, last } = await randomHistory(6, 1000, 60);
  const turnId = expected.events[20]?.turnId ?? '';
  const seq = expected.events.findLastIndex((event) => event.turnId === turnId) + 1;
  expect(await readConversationAt(reader, coder, turnId)).toEqual(await readConversationAt(reader, coder, seq));
  expect(await readConversationAt(reader, coder, 0)).toMatchObject({ seq: 0, messages: [] });
  expect(await rejectionOf(readConversationAt(reader, coder, 'turn-x'))).toMatchObject({
    code: 'E_HISTORY_RANGE',
    message: 'No turn "turn-x" is in the history of this conversation.',
  });
  for (const moment of [-1, 1.5, Number.NaN, 2 ** 60]) {
    expect(await rejectionOf(readConversationAt(reader, coder, moment))).toMatchObject({ code: 'E_HISTORY_RANGE' });
  }
  expect((await blame(reader, coder)).seq).toBe(last);
});

test('blame names the event that added each message, however much of the archive is deleted', async () => {
  const { reader, expected, last } = await randomHistory(7, 2);
  const { start } = await reader.history(coder);
  for (let seq = start.seq; seq <= last; seq += 23) {
    const { messages } = await blame(reader, coder, { at: seq });
    expect(messages.map(({ message }) => message)).toEqual([...(expected.conversations[seq] ?? [])]);
    for (const { seq: put, turnId, author, how, message } of messages) {
      const event = expected.events[put - 1];
      expect(event).toMatchObject({ turnId, author, event: { type: how, message } });
      const later = expected.events.slice(put, seq);
      expect(later.some(({ event: each }) => 'message' in each && each.message.id === message.id)).toBe(false);
    }
  }
});
