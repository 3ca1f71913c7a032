/**
 * The state of one counter, as JSON, and its changes. All functions are pure, and every store uses them: files keep the
 * state in memory and on disk, a database in a row with a version.
 *
 * Invariants:
 * 1. An amount counts from its reservation to the end of its window: first as reserved, then as settled.
 * 2. If the owner of a reservation is lost, the reservation is settled in full if its call had begun, and released
 *    otherwise. A place among concurrent calls is released in both cases.
 * 3. Every change can be made twice: the second one changes nothing.
 */
import type { CounterWindow } from './claim.ts';

export interface CounterState {
  readonly window: CounterWindow;
  /** The day of `spent` since 1970, for a window of a day. */
  readonly day?: number;
  /** The settled amount of the window; 0 for windows of a minute and of a call. */
  readonly spent: number;
  /** The settled amounts of the last minute, as pairs of a second and the amount of that second, oldest first. */
  readonly recent?: readonly (readonly [second: number, amount: number])[];
  /** The open reservations, by id. */
  readonly held: Readonly<Record<string, HeldAmount>>;
  /** The limit to which people have raised it. */
  readonly raisedTo?: number;
  /** True once a soft claim of this window was above its limit. */
  readonly isMarked?: boolean;
  /** The agents that take turns, if calls wait for this counter. */
  readonly turns?: Readonly<Record<string, AgentTurn>>;
}

export interface HeldAmount {
  readonly amount: number;
  /** The process that holds the reservation; see `isLost`. */
  readonly owner: string;
  /** The time of the reservation in milliseconds. */
  readonly at: number;
  readonly isBegun?: boolean;
  /** True if the soft claim was marked. */
  readonly isMarked?: boolean;
}

/** Times in milliseconds. */
export interface AgentTurn {
  /** The last reservation of the agent; 0 if it has none. */
  readonly servedAt: number;
  /** The beginning of the agent's wait, and the time until which the wait counts without another attempt. */
  readonly waitsSince?: number;
  readonly waitsUntil?: number;
}

/** The moment of a change. */
export interface CounterMoment {
  /** Milliseconds since 1970, by the clock of the store. */
  readonly now: number;
  /** Returns true if this owner of a reservation has ended. */
  isLost(owner: string): boolean;
}

/**
 * The seconds for which an amount of a minute counts, the current one included. They are more than 60, because a request
 * may need a moment to reach its provider, and the provider counts it when it arrives.
 */
const MINUTE_SECONDS = 62;
const DAY_MS = 86_400_000;

/** Returns the state at a moment: without amounts of windows that are over, and without lost owners (invariant 2). */
export function stateAt(state: CounterState | undefined, window: CounterWindow, moment: CounterMoment): CounterState {
  const current = inWindow(state?.window === window ? state : undefined, window, moment.now);
  const lost = Object.entries(current.held).filter(([, { owner }]) => moment.isLost(owner));
  return lost.reduce(
    (kept, [id, { isBegun, amount }]) => end(kept, id, isBegun === true ? amount : undefined),
    current,
  );
}

function inWindow(state: CounterState | undefined, window: CounterWindow, now: number): CounterState {
  const kept = state ?? { window, spent: 0, held: {} };
  if (window === 'minute') {
    const recent = (kept.recent ?? []).filter(([second]) => isInMinute(second, now));
    return { ...kept, recent };
  }
  if (window !== 'day') return kept;
  const day = dayOf(now);
  // A clock that was set back across midnight does not begin a day again.
  if (kept.day === day || kept.day === day + 1) return kept;
  // A person raised the limit of the day that is over.
  const { raisedTo: _, isMarked: __, ...rest } = kept;
  return { ...rest, day, spent: 0 };
}

/** Returns the amount that counts now. The state must be that of the same moment. */
export function usedOf(state: CounterState, now: number): number {
  const recent = (state.recent ?? []).reduce((sum, [, amount]) => addAmounts(sum, amount), 0);
  return addAmounts(addAmounts(state.spent, reservedOf(state, now)), recent);
}

/** Returns the amount that open reservations hold now. The state must be that of the same moment. */
export function reservedOf({ window, day, held }: CounterState, now: number): number {
  let reserved = 0;
  for (const { amount, at } of Object.values(held)) {
    const isCounted = window === 'minute' ? isInMinute(secondOf(at), now) : window !== 'day' || dayOf(at) === day;
    if (isCounted) reserved = addAmounts(reserved, amount);
  }
  return reserved;
}

/** Returns the time after which `amount` fits into a window of a minute, if nothing else is reserved. */
export function fitsAfterMs(state: CounterState, amount: number, limit: number, now: number): number | undefined {
  if (state.window !== 'minute') return undefined;
  const counted = [
    ...(state.recent ?? []),
    ...Object.values(state.held).map((each) => [secondOf(each.at), each.amount] as const),
  ]
    .filter(([second]) => isInMinute(second, now))
    .toSorted(([a], [b]) => a - b);
  let used = usedOf(state, now);
  for (const [second, counts] of counted) {
    used = addAmounts(used, -counts);
    if (addAmounts(used, amount) <= limit) return Math.max(0, (second + MINUTE_SECONDS) * 1_000 - now);
  }
  return undefined;
}

export function hold(state: CounterState, id: string, held: HeldAmount): CounterState {
  const marked = held.isMarked === true ? { isMarked: true } : {};
  return { ...state, ...marked, held: { ...state.held, [id]: held } };
}

/**
 * Marks the call of a reservation as begun. A call of a day counts on the day on which it begins. Returns `undefined` if the
 * state does not have the reservation.
 */
export function begin(state: CounterState, id: string, now: number): CounterState | undefined {
  const held = ownOf(state, id);
  if (held === undefined) return undefined;
  const isOfEarlier = state.window === 'day' && held.isBegun !== true && dayOf(held.at) < (state.day ?? 0);
  const at = isOfEarlier ? timeOfHold(state, now) : held.at;
  return { ...state, held: { ...state.held, [id]: { ...held, at, isBegun: true } } };
}

/** Ends a reservation with the real amount; without an amount, releases it. */
export function end(state: CounterState, id: string, amount: number | undefined): CounterState {
  const held = ownOf(state, id);
  if (held === undefined) return state;
  const { [id]: _, ...others } = state.held;
  const ended = { ...state, held: others };
  if (amount === undefined || amount === 0 || state.window === 'call') return ended;
  if (state.window === 'minute') return { ...ended, recent: addRecent(state.recent ?? [], secondOf(held.at), amount) };
  // The reservation of a day that is over belongs to that day.
  if (state.window === 'day' && dayOf(held.at) !== state.day) return ended;
  return { ...ended, spent: addAmounts(state.spent, amount) };
}

/** Raises the limit of the counter. A lower limit changes nothing, so a raise can be repeated. */
export function raise(state: CounterState, to: number): CounterState {
  return { ...state, raisedTo: Math.max(state.raisedTo ?? 0, to) };
}

/** Returns the time of a reservation that is made now. In a window of a day, it belongs to the day of the state. */
export function timeOfHold({ window, day = 0 }: CounterState, now: number): number {
  return window === 'day' ? Math.max(now, day * DAY_MS) : now;
}

/**
 * Adds two amounts. Amounts of money have nine digits after the point: more of them are errors of binary fractions, which
 * would let 0.1 + 0.2 exceed 0.3.
 */
export function addAmounts(one: number, other: number): number {
  const sum = one + other;
  return Number.isInteger(sum) ? sum : Number(sum.toFixed(9));
}

/** Returns the date of a day since 1970, such as `2026-11-17`. */
export function dateOfDay(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** The number of the day of a time since 1970, in UTC. */
export function dayOf(time: number): number {
  return Math.floor(time / DAY_MS);
}

function ownOf({ held }: CounterState, id: string): HeldAmount | undefined {
  return Object.hasOwn(held, id) ? held[id] : undefined;
}

function addRecent(
  recent: readonly (readonly [number, number])[],
  second: number,
  amount: number,
): readonly (readonly [number, number])[] {
  const before = recent.filter(([each]) => each < second);
  const after = recent.filter(([each]) => each > second);
  const same = recent.find(([each]) => each === second)?.[1] ?? 0;
  return [...before, [second, addAmounts(same, amount)], ...after];
}

function secondOf(time: number): number {
  return Math.floor(time / 1_000);
}

/** A second that is far ahead was counted before the clock was set back. */
function isInMinute(second: number, now: number): boolean {
  return Math.abs(secondOf(now) - second) < MINUTE_SECONDS;
}
