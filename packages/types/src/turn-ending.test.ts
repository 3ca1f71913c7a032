import { expect, test } from 'bun:test';
import { GoondanError } from './errors/goondan-error.ts';
import { type EndedTurn, endingOf, isCancellation, type TurnEnding } from './turn-ending.ts';

test.each<[EndedTurn, TurnEnding]>([
  [{ finishReason: 'text_response' }, 'answered'],
  [{ finishReason: 'max_steps' }, 'max_steps'],
  [{ finishReason: 'error', error: { code: 'E_CANCELLED' } }, 'cancelled'],
  [{ finishReason: 'error', error: 'E_CANCELLED: The turn was cancelled.' }, 'cancelled'],
  [{ finishReason: 'error', error: { code: 'E_TURN_TIMEOUT' } }, 'failed'],
  [{ finishReason: 'error', error: 'E_CANCELLED_BY_MY_EXTENSION: no' }, 'failed'],
  [{ finishReason: 'error', error: 'It says E_CANCELLED: no' }, 'failed'],
  [{ finishReason: 'error', error: {} }, 'failed'],
  [{ finishReason: 'error' }, 'failed'],
])('a turn of %j ended as %p', (turn, ending) => {
  expect(endingOf(turn)).toBe(ending);
});

test('a thrown error is recognized by its code', () => {
  const errors = [new GoondanError('E_CANCELLED', 'no'), new Error('E_CANCELLED'), null, undefined, 7];
  expect(errors.map(isCancellation)).toEqual([true, false, false, false, false]);
});
