import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { samples } from '../../../../test/samples.ts';
import { type Claim, counterLimits, type CounterWindow } from './claim.ts';
import { reserveClaims } from './change-counters.ts';
import type { CounterState } from './counter-state.ts';
import { CounterTable, isOver } from './counter-table.ts';

const claim = (window: CounterWindow, amount: number, limit: number): Claim => ({
  counter: 'a',
  window,
  amount,
  limit,
});

/** A clock that a test moves. */
function openClock(start: string) {
  let [elapsed, offset] = [0, Date.parse(start)];
  return {
    now: () => new Date(offset + elapsed),
    elapsed: () => elapsed,
    after: () => () => undefined,
    advance: (ms: number) => void (elapsed += ms),
    setNow: (to: string) => void (offset = Date.parse(to) - elapsed),
  };
}

function openTable() {
  const clock = openClock('2026-01-01T23:59:00Z');
  const table = new CounterTable(clock);
  let ids = 0;
  const reserve = (window: CounterWindow, amount: number, limit: number) => {
    const reservation = { id: `r${ids++}`, claims: [claim(window, amount, limit)] };
    return { reservation, outcome: table.reserve(reservation) };
  };
  return { clock, table, reserve };
}

test('Y-07 no minute has more than the limit, whenever calls come and whatever they use in the end', () => {
  const step = fc.record({
    waitMs: fc.integer({ min: 0, max: 20_000 }),
    amount: fc.integer({ min: 1, max: 6 }),
    real: fc.integer({ min: 0, max: 6 }),
    lastsMs: fc.integer({ min: 0, max: 90_000 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 6, max: 12 }), (steps, limit) => {
      const { clock, table, reserve } = openTable();
      const made: { at: number; amount: number }[] = [];
      const ends: { at: number; end: () => void }[] = [];
      for (const { waitMs, amount, real, lastsMs } of steps) {
        clock.advance(waitMs);
        for (const { end } of ends.filter(({ at }) => at <= clock.elapsed())) end();
        const { reservation, outcome } = reserve('minute', amount, limit);
        if (outcome.status !== 'reserved') continue;
        const used = Math.min(real, amount);
        made.push({ at: clock.elapsed(), amount: used });
        ends.push({ at: clock.elapsed() + lastsMs, end: () => table.end(reservation, [used]) });
      }
      for (const { at } of made) {
        const within = made.filter((each) => each.at >= at && each.at <= at + 60_000);
        expect(within.reduce((sum, each) => sum + each.amount, 0)).toBeLessThanOrEqual(limit);
      }
    }),
    { numRuns: samples(200) },
  );
});

test('Y-07 a call of a minute fits when its refusal says so', () => {
  const { clock, reserve } = openTable();
  reserve('minute', 2, 3);
  clock.advance(10_000);
  reserve('minute', 1, 3);
  const { outcome } = reserve('minute', 2, 3);
  if (outcome.status !== 'refused') throw new Error(outcome.status);
  clock.advance((outcome.retryAfterMs ?? 0) - 1);
  expect(reserve('minute', 2, 3).outcome.status).toBe('refused');
  clock.advance(1);
  expect(reserve('minute', 2, 3).outcome.status).toBe('reserved');
});

test('Y-07 a call that runs for longer than a minute does not shorten the wait', () => {
  const { clock, reserve } = openTable();
  reserve('minute', 2, 3);
  clock.advance(62_000);
  reserve('minute', 2, 3);
  const { outcome } = reserve('minute', 2, 3);
  expect(outcome).toMatchObject({ status: 'refused', used: 2, retryAfterMs: 62_000 });
});

test('Y-07 a call counts for more than a minute, in whatever part of a second it was made', () => {
  for (let offset = 0; offset < 1_000; offset += 111) {
    const { clock, reserve } = openTable();
    clock.advance(offset);
    reserve('minute', 1, 1);
    clock.advance(60_900);
    expect(reserve('minute', 1, 1).outcome.status).toBe('refused');
    clock.advance(1_100);
    expect(reserve('minute', 1, 1).outcome.status).toBe('reserved');
  }
});

test('Y-07 calls of the same second add up when they have ended', () => {
  const { table, reserve } = openTable();
  const calls = [reserve('minute', 1, 3), reserve('minute', 2, 3)];
  for (const { reservation } of calls) table.end(reservation, [reservation.claims[0]?.amount ?? 0]);
  expect(reserve('minute', 1, 3).outcome).toMatchObject({ status: 'refused', used: 3 });
});

test('Y-04 a swarm has a limited number of counters', () => {
  const state: CounterState = { window: 'ever', spent: 0, held: {} };
  const many = Array.from({ length: counterLimits.mostCounters }, (_, number) => [`c${number}`, state] as const);
  const table = new CounterTable(openClock('2026-01-01T12:00:00Z'), many);
  const reserve = (counter: string) => table.reserve({ id: counter, claims: [{ ...claim('ever', 1, 5), counter }] });
  expect(() => reserve('new')).toThrow(expect.objectContaining({ code: 'E_COUNTER_LIMIT' }));
  expect(reserve('c0').status).toBe('reserved');
});

describe('Y-04 a budget of a day', () => {
  test('marks the first call above it on each day', () => {
    const { clock, table } = openTable();
    const marks = ['first', 'second', 'third'].map((id, index) => {
      if (index === 2) clock.advance(61_000);
      return table.reserve({ id, claims: [{ ...claim('day', 3, 2), isSoft: true }] });
    });
    expect(marks).toMatchObject([{ marked: [0] }, { marked: [] }, { marked: [0] }]);
  });

  test('begins again at midnight, without what was raised and marked before', () => {
    const { clock, table, reserve } = openTable();
    table.raise({ counter: 'a', window: 'day' }, 5);
    const { reservation } = reserve('day', 5, 2);
    table.begin([reservation]);
    clock.advance(61_000);
    // The call of yesterday belongs to yesterday, although it ends today.
    expect(reserve('day', 2, 2).outcome.status).toBe('reserved');
    table.end(reservation, [5]);
    expect(reserve('day', 1, 2).outcome).toEqual({
      status: 'refused',
      claim: 0,
      used: 2,
      reserved: 2,
      limit: 2,
      day: 20_455,
    });
  });

  test('is not raised by an approval that was asked for on an earlier day', () => {
    const { clock, table, reserve } = openTable();
    reserve('day', 2, 2);
    const { outcome } = reserve('day', 1, 2);
    const day = outcome.status === 'refused' ? outcome.day : undefined;
    expect(day).toBe(20_454);
    const raised = { counter: 'a', window: 'day' as const, ...(day !== undefined && { day }) };
    clock.advance(61_000);
    table.raise(raised, 4);
    expect(reserve('day', 3, 2).outcome).toMatchObject({ status: 'refused', limit: 2, day: 20_455 });
    table.raise({ ...raised, day: 20_455 }, 4);
    expect(reserve('day', 3, 2).outcome.status).toBe('reserved');
  });

  test('counts a call on the day on which it begins', () => {
    const { clock, table, reserve } = openTable();
    const [late, early] = [reserve('day', 1, 2), reserve('day', 1, 2)];
    table.begin([early.reservation]);
    clock.advance(61_000);
    for (const { reservation } of [late, early]) table.begin([reservation]);
    expect(reserve('day', 2, 2).outcome).toMatchObject({ status: 'refused', used: 1 });
    for (const { reservation } of [late, early]) table.end(reservation, [1]);
    expect(table.get('a')).toMatchObject({ spent: 1, held: {} });
  });

  test('does not begin again when the clock was set back across midnight during a restart', () => {
    const { clock, table, reserve } = openTable();
    clock.advance(120_000);
    const { reservation } = reserve('day', 1, 2);
    table.end(reservation, [1]);
    const kept = table.get('a');
    if (kept === undefined) throw new Error('The counter is kept.');
    const earlier = openClock('2026-01-01T23:50:00Z');
    const next = new CounterTable(earlier, [['a', kept]]);
    // Removes counters of days that are over.
    earlier.advance(61_000);
    const made = { id: 'b', claims: [claim('day', 1, 2)] };
    expect(next.reserve(made).status).toBe('reserved');
    expect(next.reserve({ id: 'c', claims: [claim('day', 1, 2)] })).toMatchObject({ status: 'refused', used: 2 });
    next.end(made, [1]);
    earlier.advance(10_000);
    expect(next.reserve({ id: 'd', claims: [claim('day', 1, 2)] })).toMatchObject({ status: 'refused', used: 2 });
  });

  test('survives a clock that is set back', () => {
    const { clock, table, reserve } = openTable();
    const { reservation } = reserve('day', 2, 2);
    table.end(reservation, [2]);
    clock.setNow('2025-12-31T12:00:00Z');
    expect(reserve('day', 1, 2).outcome.status).toBe('refused');
  });
});

test('counters of windows that are over are removed', () => {
  const { clock, table, reserve } = openTable();
  for (const { reservation } of [reserve('minute', 1, 5)]) table.end(reservation, [1]);
  expect(isOver(table.get('a') ?? { window: 'ever', spent: 0, held: {} }, clock.now().getTime())).toBe(false);
  clock.advance(800_000);
  table.reserve({ id: 'x', claims: [{ ...claim('ever', 1, 5), counter: 'b' }] });
  expect(table.get('a')).toBeUndefined();
  expect(table.get('b')).toBeDefined();
});

test('Y-04 money has no errors of binary fractions: three times 0.1 fits into 0.3', () => {
  const { table, reserve } = openTable();
  for (let call = 0; call < 3; call += 1) {
    const { reservation, outcome } = reserve('ever', 0.1, 0.3);
    expect(outcome.status).toBe('reserved');
    table.end(reservation, [0.1]);
  }
  expect(reserve('ever', 0.000_000_001, 0.3).outcome).toMatchObject({ status: 'refused', used: 0.3 });
});

test('Y-07 a clock that was set back neither keeps a minute full nor keeps an agent waiting', () => {
  const [later, now] = [Date.parse('2026-01-01T12:00:00Z'), Date.parse('2026-01-01T11:00:00Z')];
  const turns = { idle: { servedAt: 0, waitsSince: later, waitsUntil: later + 2_000 } };
  const state: CounterState = { window: 'minute', spent: 0, recent: [[later / 1_000, 1]], held: {}, turns };
  const waiting = { id: 'a', claims: [claim('minute', 1, 1)], turnOf: 'busy' };
  const { outcome } = reserveClaims(() => state, waiting, 'here', { now, isLost: () => false });
  expect(outcome.status).toBe('reserved');
});
