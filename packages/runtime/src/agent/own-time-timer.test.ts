import { describe, expect, test } from 'bun:test';
import { manualClock } from '../testing/index.ts';
import { OwnTimeTimer } from './own-time-timer.ts';

function open(ms = 100) {
  const clock = manualClock();
  let rings = 0;
  const timer = new OwnTimeTimer(clock, ms, () => rings++);
  timer.start();
  return { clock, timer, rings: () => rings };
}

describe('a timer for own time', () => {
  test('fires once, when its time has passed', async () => {
    const { clock, rings } = open();
    await clock.advance(99);
    expect(rings()).toBe(0);
    await clock.advance(1);
    expect(rings()).toBe(1);
    await clock.advance(1_000);
    expect(rings()).toBe(1);
  });

  test('does not count while it is paused, and continues afterwards', async () => {
    const { clock, timer, rings } = open();
    await clock.advance(60);
    timer.pause();
    expect(clock.pending).toBe(0);
    await clock.advance(1_000);
    timer.resume();
    await clock.advance(39);
    expect(rings()).toBe(0);
    await clock.advance(1);
    expect(rings()).toBe(1);
  });

  test('continues when the last of several pauses is over', async () => {
    const { clock, timer, rings } = open();
    timer.pause();
    timer.pause();
    timer.resume();
    await clock.advance(1_000);
    expect(rings()).toBe(0);
    timer.resume();
    await clock.advance(100);
    expect(rings()).toBe(1);
  });

  test('never fires once it is stopped, even if a pause ends later', async () => {
    const { clock, timer, rings } = open();
    timer.pause();
    timer.stop();
    timer.resume();
    expect(clock.pending).toBe(0);
    await clock.advance(1_000);
    expect(rings()).toBe(0);
  });
});
