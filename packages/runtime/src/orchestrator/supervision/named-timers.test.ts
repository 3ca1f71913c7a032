import { describe, expect, test } from 'bun:test';
import type { Clock } from '../../ports/clock.ts';
import { NamedTimers } from './named-timers.ts';

/** Creates a clock that behaves like setTimeout: a timer that is set too far in the future fires at once. */
function steppedClock(): Clock & { pass(ms: number): void } {
  let now = 0;
  let timers: { readonly at: number; readonly action: () => void }[] = [];
  return {
    now: () => new Date(now),
    elapsed: () => now,
    after(ms, action) {
      const timer = { at: now + (ms > 2 ** 31 - 1 ? 1 : ms), action };
      timers.push(timer);
      return () => void (timers = timers.filter((other) => other !== timer));
    },
    pass(ms) {
      const end = now + ms;
      for (;;) {
        const [next] = timers.filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at);
        if (next === undefined) break;
        timers = timers.filter((other) => other !== next);
        now = next.at;
        next.action();
      }
      now = end;
    },
  };
}

describe('a named timer', () => {
  const timersOf = (clock: Clock) => {
    const rung: string[] = [];
    const timers = new NamedTimers(clock, (name) => void rung.push(`${name}@${clock.elapsed()}`));
    return { timers, rung };
  };

  test('fires once, at its time', () => {
    const clock = steppedClock();
    const { timers, rung } = timersOf(clock);
    timers.set('a', 10);
    timers.set('b', 5);
    clock.pass(100);
    expect(rung).toEqual(['b@5', 'a@10']);
    expect(timers.size).toBe(0);
  });

  test('moves when it is set again, and is removed by clear', () => {
    const clock = steppedClock();
    const { timers, rung } = timersOf(clock);
    timers.set('a', 10);
    timers.set('a', 20);
    timers.set('b', 15);
    timers.clear('b');
    timers.clear('never set');
    clock.pass(100);
    expect(rung).toEqual(['a@20']);
  });

  test('never fires early, however far away its time is', () => {
    const clock = steppedClock();
    const { timers, rung } = timersOf(clock);
    const far = 5 * 2 ** 31;
    timers.set('a', far);
    clock.pass(far - 1);
    expect(rung).toEqual([]);
    clock.pass(1);
    expect(rung).toEqual([`a@${far}`]);
  });

  test('fires at once when its time is past', () => {
    const clock = steppedClock();
    const { timers, rung } = timersOf(clock);
    clock.pass(50);
    timers.set('a', 10);
    clock.pass(0);
    expect(rung).toEqual(['a@50']);
  });

  test('does not fire after clearAll', () => {
    const clock = steppedClock();
    const { timers, rung } = timersOf(clock);
    timers.set('a', 1);
    timers.set('b', 2);
    timers.clearAll();
    clock.pass(10);
    expect(rung).toEqual([]);
  });

  test('may be set again while it fires', () => {
    const clock = steppedClock();
    const rung: number[] = [];
    const timers: NamedTimers<'beat'> = new NamedTimers(clock, (name) => {
      rung.push(clock.elapsed());
      timers.set(name, clock.elapsed() + 5);
    });
    timers.set('beat', 5);
    clock.pass(17);
    expect(rung).toEqual([5, 10, 15]);
  });
});
