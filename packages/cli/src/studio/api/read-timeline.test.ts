// Tests random histories. The generator knows their contents.
import { expect, test } from 'bun:test';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { durableStore, type KeptHistory } from '@goondan/runtime/history';
import { seededRandom } from '../../../../runtime/src/workspace/simulation/seeded-random.ts';
import { writeRandomHistory } from '../../../../runtime/src/workspace/simulation/write-random-history.ts';
import { readConversation } from './read-conversation.ts';
import { temporaryFolder } from '../../../../../test/temporary-folder.ts';
import { readTimeline } from './read-timeline.ts';

const coder = { agentName: 'coder', instanceKey: 'default' };
const root = temporaryFolder();

async function randomHistory(seed: number, archive: { bytes: number; files: number }) {
  const stateRoot = mkdtempSync(join(root, 'timeline-'));
  const journal = await durableStore({ stateRoot, workspaceId: 'w', limits: { archive }, warn: () => undefined });
  const expected = await writeRandomHistory(journal, coder, seededRandom(seed), 150);
  await journal.close();
  const reader = await durableStore({ stateRoot, workspaceId: 'w' });
  return { reader, expected, last: expected.events.length };
}

const letters = { input: 'i', model: 'm', tool: 't', extension: 'e', runtime: 'r' };

test.each([
  [1, { bytes: 1_000_000, files: 10 }],
  [2, { bytes: 6_000, files: 2 }],
])('a timeline has a letter for each event, and each turn at its place (seed %i)', async (seed, archive) => {
  const { reader, expected, last } = await randomHistory(seed, archive);
  const { start } = await reader.history(coder);
  expect(start.seq > 0).toBe(archive.files === 2);
  const timeline = await readTimeline(reader, coder);
  const kept = expected.events.slice(start.seq);
  expect(timeline).toMatchObject({
    ...{ first: start.seq + 1, from: start.seq + 1, last },
    authors: kept.map(({ author }) => letters[author.kind]).join(''),
  });
  const withEvents = timeline.turns.filter(({ turnId }) => kept.some((event) => event.turnId === turnId));
  expect(withEvents.map(({ turnId, from, to }) => [turnId, from, to])).toEqual(
    [...new Set(kept.map(({ turnId }) => turnId))].map((turnId) => {
      const numbers = expected.events.flatMap((event, index) => (event.turnId === turnId ? [index + 1] : []));
      return [turnId, numbers[0] ?? 0, numbers.at(-1) ?? 0];
    }),
  );
  for (const { turnId, result } of timeline.turns) expect(result === 'reset', turnId).toBe(turnId.startsWith('reset-'));
  for (const { error, result } of timeline.turns) expect(error !== undefined).toBe(result === 'failed');
  const kinds = timeline.turns.map(({ result }) => result);
  expect(kinds).toEqual(expect.arrayContaining(['completed', 'failed']));
});

test('a conversation at every moment equals an independent fold, and has the range of moments', async () => {
  const { reader, expected, last } = await randomHistory(3, { bytes: 6_000, files: 3 });
  const { start } = await reader.history(coder);
  for (let at = start.seq; at <= last; at += 1) {
    const { messages, ...found } = await readConversation(reader, coder, { at, last: 1000 });
    expect(found).toEqual({ seq: at, first: start.seq + 1, last, earlier: 0 });
    expect(messages.map(({ message }) => message)).toEqual([...(expected.conversations[at] ?? [])]);
  }
  expect((await readConversation(reader, coder, { last: 1000 })).seq).toBe(last);
  const at = expected.conversations.findLastIndex(({ length }) => length > 3);
  const then = expected.conversations[at] ?? [];
  const tail = await readConversation(reader, coder, { at, last: 2 });
  expect(tail.earlier).toBe(then.length - 2);
  expect(tail.messages.map(({ message }) => message.id)).toEqual(then.slice(-2).map(({ id }) => id));
});

test('a conversation is read once, even for an early moment', async () => {
  const { reader } = await randomHistory(4, { bytes: 6_000, files: 100 });
  let opened = 0;
  const counting = {
    history(): Promise<KeptHistory> {
      opened += 1;
      return reader.history(coder);
    },
  };
  await readConversation(counting, coder, { at: 1, last: 10 });
  expect(opened).toBe(1);
});

test('a conversation without events has no turns either', async () => {
  const start = { version: 0, seq: 0, messages: [], states: { known: {}, unknown: [] } };
  const empty = { history: async () => ({ start, turns: (async function* () {})() }) };
  expect(await readTimeline(empty, coder)).toEqual({ first: 0, last: 0, from: 0, authors: '', turns: [] });
  expect(await readConversation(empty, coder, { last: 10 })).toEqual({
    ...{ seq: 0, first: 0, last: 0, earlier: 0, messages: [] },
  });
});

test('a long conversation shows its newest 20 000 events, and their turns', async () => {
  const author = { kind: 'model' } as const;
  const event = { seq: 1, at: new Date(), author, event: { type: 'truncate' }, counts: true } as const;
  const start = { version: 0, seq: 5, messages: [], states: { known: {}, unknown: [] } };
  async function* turns() {
    for (let version = 1; version <= 7_001; version += 1) {
      // In each turn, one of the four events is undone.
      const events = [event, event, { ...event, counts: false }, event];
      yield { turnId: `t${version}`, version, committedAt: new Date(0), events, result: 'reset' as const };
    }
  }
  const timeline = await readTimeline({ history: async () => ({ start, turns: turns() }) }, coder);
  const last = 5 + 3 * 7_001;
  const from = last - 20_000 + 1;
  expect(timeline).toMatchObject({ first: 6, last, from });
  expect(timeline.authors).toBe('m'.repeat(20_000));
  const [oldest] = timeline.turns;
  expect(oldest?.to).toBeGreaterThanOrEqual(from);
  expect(oldest?.from).toBeLessThanOrEqual(from);
  expect(timeline.turns.at(-1)).toMatchObject({ turnId: 't7001', from: last - 2, to: last });
});
