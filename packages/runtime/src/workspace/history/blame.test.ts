import { expect, test } from 'bun:test';
import { createSystemMessage, createUserMessage, type Message, type MessageEvent } from '@goondan/types';
import type { EventAuthor } from '../../agent/conversation/conversation-store.ts';
import type { ArchivedTurn } from '../archive/read-archive.ts';
import { blame } from './blame.ts';
import type { BlamedMessage } from './blamed-message.ts';
import { emptyStart } from './history-start.ts';
import type { HistorySource } from './read-history.ts';

type Row = readonly [author: EventAuthor, event: MessageEvent, stepId?: string];

const input: EventAuthor = { kind: 'input', from: { kind: 'cli', name: 'control' } };
const model: EventAuthor = { kind: 'model', ref: 'Model/main' };
const clerk: EventAuthor = { kind: 'extension', name: 'clerk' };
const other: EventAuthor = { kind: 'extension', name: 'other' };
const message = (id: string): Message => createUserMessage(id, {}, { id, createdAt: new Date(0) });
const append = (id: string): MessageEvent => ({ type: 'append', message: message(id) });
const remove = (targetId: string): MessageEvent => ({ type: 'remove', targetId });
const replace = (targetId: string, id: string): MessageEvent => ({
  type: 'replace',
  targetId,
  message: createSystemMessage(id, {}, { id, createdAt: new Date(0) }),
});
/** Makes rows of one author outside of steps. */
const by = (author: EventAuthor, ...events: readonly MessageEvent[]): readonly Row[] =>
  events.map((event) => [author, event] as const);
const four: readonly Row[] = ['a', 'b', 'c', 'd'].map((id) => [input, append(id)] as const);

/** Creates a history with one turn per list of rows. */
function historyOf(...turns: (readonly Row[])[]): HistorySource {
  const archived = turns.map((rows, index): ArchivedTurn => {
    const events = rows.map(([author, event, stepId], place) => {
      const step = stepId === undefined ? {} : { stepId };
      return { seq: place, at: new Date(place), author, event, counts: true, ...step };
    });
    const turnId = `turn-${index + 1}`;
    const result = { turnId, finishReason: 'text_response' } as const;
    return { turnId, version: index + 1, committedAt: new Date(index), events, result };
  });
  return {
    history: async () => ({
      start: emptyStart,
      turns: (async function* () {
        yield* archived;
      })(),
    }),
  };
}

const coder = { agentName: 'coder', instanceKey: 'default' };
/** Formats a message as `s@5←1,2`: event 5 added the message s, which replaced the messages of the events 1 and 2. */
function shortly({ seq, message: { id }, replaced }: BlamedMessage): string {
  if (replaced === undefined) return `${id}@${seq}`;
  const nested = replaced.messages.map((each) => (each.replaced ? `${each.seq}(${each.replaced.count})` : each.seq));
  return `${id}@${seq}←${nested.join()}`;
}
const blamed = async (...turns: (readonly Row[])[]) =>
  (await blame(historyOf(...turns), coder, { replaced: 10 })).messages.map(shortly).join(' ');

test('names the author, the operation, the turn, the step and the time', async () => {
  const { seq, messages } = await blame(historyOf(four.slice(0, 1), [[model, append('r'), 'step-0']]), coder);
  expect(seq).toBe(2);
  expect(messages).toEqual([
    { seq: 1, at: new Date(0), turnId: 'turn-1', author: input, how: 'append', message: message('a') },
    {
      seq: 2,
      at: new Date(0),
      turnId: 'turn-2',
      stepId: 'step-0',
      author: model,
      how: 'append',
      message: message('r'),
    },
  ]);
});

test('a summary lists the message it replaced and those that the same extension removed in the same step', async () => {
  const summary: readonly Row[] = [
    [clerk, replace('a', 's'), 'step-0'],
    [clerk, remove('b'), 'step-0'],
    [clerk, remove('c'), 'step-0'],
  ];
  expect(await blamed(four, summary)).toBe('s@5←1,2,3 d@4');
  expect(await blamed(four, [...summary.slice(1), ...summary.slice(0, 1)])).toBe('s@7←1,2,3 d@4');
  const { messages } = await blame(historyOf(four, summary), coder);
  expect(messages[0]?.replaced).toEqual({ count: 3, first: 1, last: 3, messages: [] });
  const few = await blame(historyOf(four, summary), coder, { replaced: 2 });
  expect(few.messages[0]?.replaced).toMatchObject({ count: 3, messages: [{ seq: 1 }, { seq: 2 }] });
});

test('two summaries in one step each list the messages removed after them', async () => {
  const rows = by(clerk, replace('a', 's'), remove('b'), replace('c', 't'), remove('d'));
  expect(await blamed(four, rows)).toBe('s@5←1,2 t@7←3,4');
});

test('a summary does not list messages removed by another extension, in another step or in another turn', async () => {
  expect(
    await blamed(four, [
      [clerk, replace('a', 's')],
      [other, remove('b')],
    ]),
  ).toBe('s@5←1 c@3 d@4');
  expect(
    await blamed(four, [
      [clerk, replace('a', 's'), 'step-0'],
      [clerk, remove('b'), 'step-1'],
    ]),
  ).toBe('s@5←1 c@3 d@4');
  expect(await blamed(four, [[clerk, replace('a', 's')]], [[clerk, remove('b')]])).toBe('s@5←1 c@3 d@4');
  expect(await blamed(four, [[{ kind: 'runtime' }, remove('b')]])).toBe('a@1 c@3 d@4');
});

test('one appended message lists the truncated or removed messages, several appended messages list none', async () => {
  expect(await blamed(four, by(clerk, { type: 'truncate' }, append('s')))).toBe('s@6←1,2,3,4');
  expect(await blamed(four, by(clerk, remove('a'), remove('b'), append('s')))).toBe('c@3 d@4 s@7←1,2');
  expect(await blamed(four, by(clerk, remove('a'), append('s'), append('t')))).toBe('b@2 c@3 d@4 s@6 t@7');
  expect(await blamed(four, by(clerk, append('s'), remove('s')))).toBe('a@1 b@2 c@3 d@4');
});

test('an input that comes back after a truncate keeps its sender, and no summary replaced it', async () => {
  const again: EventAuthor = { kind: 'input', from: { kind: 'cli', name: 'control' }, again: true };
  const rows: readonly Row[] = [
    [input, append('i')],
    [clerk, { type: 'truncate' }],
    [again, append('i')],
    [clerk, append('s')],
  ];
  expect(await blamed(four, rows)).toBe('i@7 s@8←1,2,3,4');
});

test('a replaced summary keeps only its numbers; an earlier moment shows the rest', async () => {
  const first = by(clerk, replace('a', 's'), remove('b'));
  const second = by(clerk, replace('s', 't'), remove('c'));
  expect(await blamed(four, first, second)).toBe('t@7←5(2),3 d@4');
  const history = historyOf(four, first, second);
  const [now] = (await blame(history, coder, { replaced: 10 })).messages;
  expect(now?.replaced?.messages[0]?.replaced).toEqual({ count: 2, first: 1, last: 2, messages: [] });
  const before = await blame(historyOf(four, first, second), coder, { replaced: 10, at: 6 });
  expect(before.messages.map(shortly).join(' ')).toBe('s@5←1,2 c@3 d@4');
});

test('a moment in the middle of a group counts the changes so far', async () => {
  const rows = by(clerk, replace('a', 's'), remove('b'), remove('c'));
  const { messages } = await blame(historyOf(four, rows), coder, { at: 6, replaced: 10 });
  expect(messages.map(shortly).join(' ')).toBe('s@5←1,2 c@3 d@4');
});
