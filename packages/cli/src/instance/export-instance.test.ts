import { expect, test } from 'bun:test';
import { createUserMessage, GoondanError } from '@goondan/types';
import type { ArchivedTurn, Journal } from '@goondan/runtime/history';
import { exportInstance } from './export-instance.ts';

const emptyStart = { version: 0, seq: 0, messages: [], states: { known: {}, unknown: [] } };
const at = { agentName: 'host', instanceKey: 'a "b"' };
const exportedAt = new Date('2026-01-02T03:04:05.678Z');

/** Fakes a conversation of `version` turns, of which `archived` are in its archive. */
function source(version: number, archived = version) {
  const read: number[] = [];
  async function* archive() {
    for (let index = 1; index <= archived; index += 1) {
      read.push(index);
      const turn: ArchivedTurn = {
        turnId: `turn-${index}`,
        version: index,
        committedAt: exportedAt,
        events: [],
        result: 'reset',
      };
      yield turn;
    }
  }
  const letters = { list: async () => [], retry: async () => false, drop: async () => undefined };
  return {
    read,
    journal: {
      readIntact: async () => ({
        version,
        stateVersion: version,
        messages: [createUserMessage('one'), createUserMessage('two')],
        extensionState: {},
        lostStates: [],
        problems: [],
      }),
      history: async () => ({ start: emptyStart, turns: archive() }),
      summary: async () => ({ messages: 2, pending: 0, deadLetters: 0 }),
      pending: async () => [],
      deadLetters: letters as unknown as Journal['deadLetters'], // The cast is safe: only `list` is used.
    },
  };
}

async function collect(pieces: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}

test('one JSON document, with a line for each message and each turn', async () => {
  const { journal } = source(3);
  const counts = { messages: 0, turns: 0 };
  const text = await collect(exportInstance(journal, { at, history: true, exportedAt }, counts));
  expect(JSON.parse(text)).toMatchObject({
    formatVersion: 1,
    agent: 'host',
    instanceKey: 'a "b"',
    exportedAt: '2026-01-02T03:04:05.678Z',
    createdAt: null,
    updatedAt: null,
    version: 3,
    messages: [{ data: { role: 'user' } }, { data: { role: 'user' } }],
    extensions: {},
    inputs: [],
    deadLetters: [],
    history: [{ turnId: 'turn-1' }, { turnId: 'turn-2' }, { turnId: 'turn-3' }],
  });
  expect(text.split('\n').filter((line) => line.startsWith('{"'))).toHaveLength(5);
  expect(counts).toEqual({ messages: 2, turns: 3 });
});

test('the history is left out unless requested, and ends with the messages', async () => {
  expect(
    JSON.parse(await collect(exportInstance(source(1).journal, { at, history: false, exportedAt }))),
  ).not.toHaveProperty('history');
  const ahead = JSON.parse(await collect(exportInstance(source(2, 4).journal, { at, history: true, exportedAt })));
  expect(ahead.history.map(({ version }: { version: number }) => version)).toEqual([1, 2]);
});

test('the events of the history have the numbers that `gdn history` shows, after those that are no longer kept', async () => {
  const { journal } = source(2, 0);
  const event = { type: 'truncate' } as const;
  const archived = (seq: number, counts = true) => {
    return { seq, at: exportedAt, author: { kind: 'runtime' }, event, counts } as const;
  };
  const turn = { committedAt: exportedAt, result: 'reset' } as const;
  async function* turns() {
    yield { ...turn, turnId: 'one', version: 1, events: [archived(2), archived(5, false), archived(8)] };
    yield { ...turn, turnId: 'two', version: 2, events: [archived(11)] };
  }
  const history = async () => ({ start: { ...emptyStart, seq: 7 }, turns: turns() });
  const text = await collect(exportInstance({ ...journal, history }, { at, history: true, exportedAt }));
  const written = JSON.parse(text).history as { readonly events: readonly { seq: number; number?: number }[] }[];
  expect(written.map(({ events }) => events.map(({ seq, number }) => [seq, number]))).toEqual([
    [
      [2, 8],
      [5, undefined],
      [8, 9],
    ],
    [[11, 10]],
  ]);
});

test('a turn is read after the one before was taken: a long history needs little memory', async () => {
  const { journal, read } = source(1000);
  for await (const piece of exportInstance(journal, { at, history: true, exportedAt })) {
    if (piece.includes('turn-10"')) break;
  }
  expect(read).toHaveLength(10);
});

test('an unreadable part is left out with its problem, and the messages are exported', async () => {
  const { journal } = source(1);
  const damaged = () => Promise.reject(new GoondanError('E_STORE_CORRUPT', 'a bad line'));
  const text = await collect(
    exportInstance({ ...journal, summary: damaged, pending: damaged }, { at, history: false, exportedAt }),
  );
  expect(JSON.parse(text)).toMatchObject({
    messages: [{ data: { content: 'one' } }, { data: { content: 'two' } }],
    inputs: null,
    deadLetters: [],
    problems: ['E_STORE_CORRUPT: a bad line'],
  });
});
