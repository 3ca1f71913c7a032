import { describe, expect, test } from 'bun:test';
import { manualClock } from '../../testing/index.ts';
import { TurnClock } from './turn-clock.ts';

function open() {
  const world = manualClock();
  return { world, clock: new TurnClock(world), rings: [] as string[] };
}

describe('the clock of a turn', () => {
  test('is paused with everything that is timed on it', async () => {
    const { world, clock, rings } = open();
    clock.after(100, () => rings.push('before'));
    await world.advance(60);
    clock.pause();
    clock.after(10, () => rings.push('meanwhile'));
    await world.advance(1_000_000);
    expect([clock.elapsed(), rings]).toEqual([60, []]);
    expect(clock.now()).toEqual(world.now());
    clock.resume();
    await world.advance(39);
    expect([clock.elapsed(), rings]).toEqual([99, ['meanwhile']]);
    await world.advance(1);
    expect(rings).toEqual(['meanwhile', 'before']);
  });

  test('continues when the last of several pauses is over', async () => {
    const { world, clock, rings } = open();
    clock.after(10, () => rings.push('rang'));
    clock.pause();
    await world.advance(5);
    clock.pause();
    await world.advance(5);
    clock.resume();
    await world.advance(100);
    expect([clock.elapsed(), rings]).toEqual([0, []]);
    clock.resume();
    await world.advance(10);
    expect([clock.elapsed(), rings]).toEqual([10, ['rang']]);
  });

  test('a cancelled timer never fires, even if it was cancelled during a pause; nothing is left behind', async () => {
    const { world, clock, rings } = open();
    const callOff = clock.after(10, () => rings.push('rang'));
    clock.pause();
    callOff();
    clock.resume();
    await world.advance(100);
    expect([rings, world.pending]).toEqual([[], 0]);
  });
});
