import { expect, test } from 'bun:test';
import { manualClock } from './manual-clock.ts';

test('time passes only when the test advances it, for all three ways to read it', async () => {
  const clock = manualClock(new Date('2026-03-01T00:00:00Z'));
  await clock.advance(1_500);
  expect(clock.elapsed()).toBe(1_500);
  expect(clock.now()).toEqual(new Date('2026-03-01T00:00:01.500Z'));
});

test('timers run in the order they are due, equal ones in the order they were set, each at its own time', async () => {
  const clock = manualClock();
  const ran: string[] = [];
  for (const [name, ms] of [['c', 30] as const, ['a', 10] as const, ['b', 10] as const, ['never', 31] as const]) {
    clock.after(ms, () => ran.push(`${name}@${clock.elapsed()}`));
  }
  await clock.advance(30);
  expect(ran).toEqual(['a@10', 'b@10', 'c@30']);
  expect(clock.pending).toBe(1);
});

test('a cancelled timer does not run', async () => {
  const clock = manualClock();
  let ran = false;
  clock.after(1, () => (ran = true))();
  await clock.advance(10);
  expect(ran).toBe(false);
  expect(clock.pending).toBe(0);
});

test('a timer set while time advances runs when it is due before the end', async () => {
  const clock = manualClock();
  const ran: number[] = [];
  clock.after(5, () => void Promise.resolve().then(() => clock.after(5, () => ran.push(clock.elapsed()))));
  await clock.advance(20);
  expect(ran).toEqual([10]);
});
