import { expect, test } from 'bun:test';
import type { CounterState } from './counter-state.ts';
import { isNext, noteServed, noteWait } from './take-turns.ts';

const empty: CounterState = { window: 'call', spent: 0, held: {} };

test('Y-07 an agent that stopped waiting holds up nobody', () => {
  const now = 1_000_000;
  const served = noteServed(empty, 'busy', now);
  const waiting = noteWait(served, 'gone', now);
  expect(isNext(waiting, 'busy', now + 1_999)).toBe(false);
  expect(isNext(waiting, 'busy', now + 2_000)).toBe(true);
});

test('Y-07 an agent that begins to wait again waits since then', () => {
  const early = noteWait(empty, 'early', 0);
  const both = noteWait(noteWait(early, 'late', 10_000), 'early', 10_001);
  expect([isNext(both, 'early', 10_002), isNext(both, 'late', 10_002)]).toEqual([false, true]);
});
