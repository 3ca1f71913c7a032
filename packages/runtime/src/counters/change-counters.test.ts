import { expect, test } from 'bun:test';
import { reserveClaims } from './change-counters.ts';
import { type Claim, counterLimits } from './claim.ts';
import type { CounterState, HeldAmount } from './counter-state.ts';
import { CounterTable } from './counter-table.ts';

const moment = { now: Date.parse('2026-01-01T12:00:00Z'), isLost: () => false };
const claim: Claim = { counter: 'a', window: 'ever', amount: 1, limit: 1_000_000 };
const readOf = (state: CounterState) => (counter: string) => (counter === 'a' ? state : undefined);

test('Y-04 a counter has a limited number of open reservations', () => {
  const held: HeldAmount = { amount: 1, owner: 'here', at: moment.now };
  const many = Array.from({ length: counterLimits.mostHeld }, (_, number) => [`r${number}`, held] as const);
  const full = { window: 'ever', spent: 0, held: Object.fromEntries(many) } as const;
  const reserve = (state: CounterState) =>
    reserveClaims(readOf(state), { id: 'next', claims: [claim] }, 'here', moment);
  expect(() => reserve(full)).toThrow(expect.objectContaining({ code: 'E_COUNTER_LIMIT', retryable: true }));
  const last = { ...full, held: Object.fromEntries(many.slice(1)) };
  expect(reserve(last).outcome.status).toBe('reserved');
});

test('Y-04 calls begin together or not at all', () => {
  const table = new CounterTable({ now: () => new Date(moment.now), elapsed: () => 0, after: () => () => undefined });
  const [known, ended] = [
    { id: 'known', claims: [claim] },
    { id: 'ended', claims: [claim] },
  ];
  for (const reservation of [known, ended]) table.reserve(reservation);
  table.end(ended);
  expect(table.begin([known, ended])).toBe(false);
  table.abandon(known);
  expect(table.get('a')).toMatchObject({ spent: 0, held: {} });
});

test('the amounts of a counter whose window has changed count no more', () => {
  const state: CounterState = { window: 'day', day: 0, spent: 5, held: {} };
  const { outcome } = reserveClaims(readOf(state), { id: 'r', claims: [{ ...claim, limit: 1 }] }, 'here', moment);
  expect(outcome.status).toBe('reserved');
});
