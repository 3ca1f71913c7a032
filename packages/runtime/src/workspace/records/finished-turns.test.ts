import { expect, test } from 'bun:test';
import { createAssistantMessage, type TurnResult } from '@goondan/types';
import { FinishedTurns } from './finished-turns.ts';

const result = (turnId: string, text = ''): TurnResult => ({
  turnId,
  finishReason: 'text_response',
  responseMessage: createAssistantMessage(text, {}, { id: turnId, source: { type: 'assistant', stepId: 's' } }),
});
const known = (turns: FinishedTurns, ...ids: string[]) => ids.filter((id) => turns.has(id));

test('forgets the oldest turns above the limit', () => {
  const turns = new FinishedTurns({ rememberedTurns: 2, rememberedTurnBytes: 1e6 }, [['a', result('a')]]);
  turns.add('b', result('b'));
  turns.add('a', result('a'));
  turns.add('c', result('c'));
  expect(known(turns, 'a', 'b', 'c')).toEqual(['a', 'c']);
  expect(turns.get('c')?.turnId).toBe('c');
});

test('long results push out older ones, but the newest stays, however long it is', () => {
  const turns = new FinishedTurns({ rememberedTurns: 100, rememberedTurnBytes: 5000 });
  for (const id of ['a', 'b', 'c', 'd']) turns.add(id, result(id, 'x'.repeat(2000)));
  expect(known(turns, 'a', 'b', 'c', 'd')).toEqual(['c', 'd']);
  turns.add('e', result('e', 'x'.repeat(10_000)));
  expect(known(turns, 'a', 'b', 'c', 'd', 'e')).toEqual(['e']);
  turns.add('f', result('f'));
  expect(known(turns, 'e', 'f')).toEqual(['f']);
});

test.each<[string, (turnId: string) => TurnResult]>([
  ['error', (turnId) => ({ turnId, finishReason: 'error', error: { message: 'x'.repeat(2000) } })],
  [
    'metadata of the message',
    (turnId) => ({
      turnId,
      finishReason: 'text_response',
      responseMessage: createAssistantMessage('', { note: ['x'.repeat(2000)] }),
    }),
  ],
])('a long %s counts, too', (_, long) => {
  const turns = new FinishedTurns({ rememberedTurns: 100, rememberedTurnBytes: 5000 });
  for (const id of ['a', 'b', 'c']) turns.add(id, long(id));
  expect(known(turns, 'a', 'b', 'c')).toEqual(['b', 'c']);
});
