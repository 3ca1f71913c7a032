import { expect, test } from 'bun:test';
import { WaitingLine } from './waiting-line.ts';

test('an instance waits once for a seat, however often it enters', () => {
  const line = new WaitingLine();
  for (const key of ['a', 'b', 'a']) line.enterForSeat(key, 'clerk');
  expect([line.size, line.all()]).toEqual([2, ['a', 'b']]);
  expect([line.leave('a', 'clerk'), line.leave('a', 'clerk')]).toEqual([true, false]);
  expect([line.size, line.all()]).toEqual([1, ['b']]);
  expect(line.leave('b', 'clerk')).toBe(true);
  expect([line.size, line.forSeats.size]).toEqual([0, 0]);
});

test('an instance whose agent is not declared is kept, and is not counted', () => {
  const line = new WaitingLine();
  line.setAside('a');
  line.enter('b');
  expect([line.size, line.all()]).toEqual([1, ['a', 'b']]);
  expect(line.leave('a', 'clerk')).toBe(true);
  expect(line.all()).toEqual(['b']);
});
