import { expect, test } from 'bun:test';
import { Cancellations } from './cancellations.ts';

test('a cancel ends the turn of its own event, before or after that turn began, with its reason', () => {
  const cancellations = new Cancellations();
  const [one, two] = [cancellations.begin('one'), cancellations.begin('two')];
  cancellations.cancel('two', 'enough');
  cancellations.cancel('three', 'too late');
  expect([one.aborted, two.aborted, cancellations.begin('three').aborted]).toEqual([false, true, true]);
  expect(two.reason).toMatchObject({ code: 'E_CANCELLED', message: 'The turn was cancelled: enough' });
});

test('a cancel ends one turn: the same event again runs normally', () => {
  const cancellations = new Cancellations();
  cancellations.cancel('one', 'x');
  cancellations.begin('one');
  cancellations.end('one');
  expect(cancellations.begin('one').aborted).toBe(false);
});

test('cancels for events that never come are forgotten, the oldest first', () => {
  const cancellations = new Cancellations();
  for (let n = 0; n <= 1_000; n++) cancellations.cancel(`e${n}`, 'x');
  expect(cancellations.begin('e0').aborted).toBe(false);
  expect(cancellations.begin('e1').aborted).toBe(true);
  expect(cancellations.begin('e1000').aborted).toBe(true);
});
