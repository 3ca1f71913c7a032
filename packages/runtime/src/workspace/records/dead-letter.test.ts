import { expect, test } from 'bun:test';
import { simpleEvent } from '../simulation/simulated-turn.ts';
import { retryOf } from './dead-letter.ts';

test('Y-08 the retry of an input that a turn had taken has a turn of its own', () => {
  const event = simpleEvent('n', { delivery: 'now' });
  const { delivery, ...retry } = retryOf({ event, crashes: 3, reason: 'It crashed.', deadAt: new Date(0) });
  expect(delivery).toBeUndefined();
  expect(retry).toMatchObject({ id: 'n~retry', source: event.source });
});
