import { expect, test } from 'bun:test';
import { createUserMessage } from '@goondan/types';
import type { ArchivedTurn } from '../archive/read-archive.ts';
import { fakeEvent } from '../../testing/fake-swarm.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';
import { foldHistory } from './fold-history.ts';
import { emptyStart } from './history-start.ts';
import type { HistorySource } from './read-history.ts';

const instance = { agentName: 'host', instanceKey: 'default' };
const uuid = '1f3a9c2b-0000-4000-8000-000000000000';
const another = '1f3b0000-0000-4000-8000-000000000000';
const digits = '20417365-1000-4000-8000-000000000000';
const ids = [
  `turn-event-${uuid}`,
  `turn-event-${another}`,
  'turn-event-1f3b',
  'turn-mine',
  'fork-1',
  `turn-event-${digits}`,
];
/** The event that the fourth turn took while it ran. */
const steering = { ...fakeEvent('More!'), id: 'event-9e8d7c6b-0000-4000-8000-000000000000' };

/** A history with one message in each turn. */
const source: HistorySource = {
  async history() {
    async function* turns(): AsyncGenerator<ArchivedTurn> {
      for (const [index, turnId] of ids.entries()) {
        const event = { type: 'append', message: createUserMessage(turnId) } as const;
        const at = new Date(0);
        yield {
          turnId,
          version: index + 1,
          committedAt: at,
          result: { turnId, finishReason: 'text_response' },
          events: [
            {
              ...{ seq: index + 1, at, author: { kind: 'input' }, event, counts: true },
              ...(index === 3 && { took: { seq: 9, event: steering, beforeStep: 1 } }),
            },
          ],
        };
      }
    }
    return { start: emptyStart, turns: turns() };
  },
  pending: async () => [{ id: 'later' }],
};

test.each([
  [`turn-event-${uuid}`, 1],
  [`event-${uuid}`, 1],
  ['1f3a', 1],
  ['1f3b0', 2],
  // If one id is exactly this text and another begins with it, the exact id wins.
  ['1f3b', 3],
  ['turn-event-1f3b', 3],
  ['mine', 4],
  ['fork', 5],
  // The beginning of an id may have only digits. A text of digits that fits no turn is the number of an event.
  ['20417365', 6],
  ['00000002', 2],
])('%s means the moment after event %d', async (typed, seq) => {
  expect((await foldHistory(source, instance, typed)).seq).toBe(seq);
});

test.each([
  ['1f3', 'E_TRACE_AMBIGUOUS', '"1f3" may be 1f3a9c2b, 1f3b0000, event-1f3b.'],
  ['later', 'E_HISTORY_RANGE', 'Turn later has not ended yet, so it is not in the history.'],
  ['turn-x', 'E_HISTORY_RANGE', 'No turn "turn-x" is in the history of this conversation.'],
])('rejects %s', async (typed, code, message) => {
  expect(await rejectionOf(foldHistory(source, instance, typed))).toMatchObject({ code, message });
});

test('Y-08 the id of an input that a turn took while it ran means the moment after that turn', async () => {
  for (const typed of ['9e8d7c6b', steering.id, `turn-${steering.id}`]) {
    const fold = await foldHistory(source, instance, typed);
    expect([fold.seq, fold.takenBy]).toEqual([4, 'turn-mine']);
  }
  expect((await foldHistory(source, instance, 'mine')).takenBy).toBeUndefined();
});
