/**
 * The operations of a counter store, on states that somebody else keeps. An operation reads the states of its counters and
 * returns the states that changed, so a store writes them all together.
 */
import { GoondanError } from '@goondan/types';
import {
  type Claim,
  counterLimits,
  type RaisedCounter,
  type Reservation,
  type ReserveOutcome,
  type WaitingReservation,
} from './claim.ts';
import {
  addAmounts,
  begin,
  type CounterState,
  end,
  fitsAfterMs,
  hold,
  type CounterMoment,
  raise,
  reservedOf,
  stateAt,
  timeOfHold,
  usedOf,
} from './counter-state.ts';
import { isNext, noteServed, noteWait } from './take-turns.ts';

/** Returns the kept state of a counter; `undefined` if it was never used. */
export type ReadState = (counter: string) => CounterState | undefined;

export interface Changed<Outcome> {
  readonly outcome: Outcome;
  /** The new states, by counter; empty if nothing changed. */
  readonly states: ReadonlyMap<string, CounterState>;
}

/** Reserves all claims of a call, or none. **Errors** — `E_COUNTER_LIMIT` when a counter has too many reservations. */
export function reserveClaims(
  read: ReadState,
  { id, claims, turnOf, isBegun = false }: WaitingReservation,
  owner: string,
  moment: CounterMoment,
): Changed<ReserveOutcome> {
  const { now } = moment;
  const states = readAll(read, claims, moment);
  const [first] = claims;
  const known = claims.map(({ counter }) => states.get(counter)?.held[id]);
  if (known.some((held) => held !== undefined)) {
    // The answer to an earlier run of the same operation was lost.
    const marked = known.flatMap((held, position) => (held?.isMarked === true ? [position] : []));
    return { outcome: { status: 'reserved', marked }, states: new Map() };
  }
  const turns = first && states.get(first.counter);
  // Made from the state before the claims, of which nothing may be left if one of them is refused.
  const waiting =
    first === undefined || turns === undefined || turnOf === undefined
      ? new Map<string, CounterState>()
      : new Map([[first.counter, noteWait(turns, turnOf, now)]]);
  if (turnOf !== undefined && turns !== undefined && !isNext(turns, turnOf, now)) {
    return { outcome: { status: 'notYet' }, states: waiting };
  }
  const marked: number[] = [];
  for (const [position, claim] of claims.entries()) {
    const state = states.get(claim.counter) ?? stateAt(undefined, claim.window, moment);
    const limit = limitOf(state, claim);
    const used = usedOf(state, now);
    const isOver = addAmounts(used, claim.amount) > limit;
    if (isOver && claim.isSoft !== true) {
      const retryAfterMs = fitsAfterMs(state, claim.amount, limit, now);
      const { day } = state;
      const more = { ...(day !== undefined && { day }), ...(retryAfterMs !== undefined && { retryAfterMs }) };
      const reserved = reservedOf(state, now);
      return { outcome: { status: 'refused', claim: position, used, reserved, limit, ...more }, states: waiting };
    }
    if (Object.keys(state.held).length >= counterLimits.mostHeld) throw tooMany(claim.counter);
    const isMarked = isOver && state.isMarked !== true;
    if (isMarked) marked.push(position);
    const { amount } = claim;
    const held = {
      amount,
      owner,
      at: timeOfHold(state, now),
      ...(isBegun && { isBegun }),
      ...(isMarked && { isMarked }),
    };
    states.set(claim.counter, hold(state, id, held));
  }
  const served = first && states.get(first.counter);
  if (turnOf !== undefined && first !== undefined && served !== undefined) {
    states.set(first.counter, noteServed(served, turnOf, now));
  }
  return { outcome: { status: 'reserved', marked }, states };
}

/** Marks the calls of reservations as begun, all or none. The outcome is false if one of them is not reserved any more. */
export function beginReservations(
  read: ReadState,
  reservations: readonly Reservation[],
  moment: CounterMoment,
): Changed<boolean> {
  const states = new Map<string, CounterState>();
  for (const { id, claims } of reservations) {
    for (const { counter, window } of claims) {
      const begun = begin(states.get(counter) ?? stateAt(read(counter), window, moment), id, moment.now);
      if (begun === undefined) return { outcome: false, states: new Map() };
      states.set(counter, begun);
    }
  }
  return { outcome: true, states };
}

/** Ends a reservation with the real amount of each claim; without amounts, releases it. */
export function endReservation(
  read: ReadState,
  { id, claims }: Reservation,
  amounts: readonly number[] | undefined,
  moment: CounterMoment,
): Changed<void> {
  const states = new Map<string, CounterState>();
  for (const [position, { counter, window, amount }] of claims.entries()) {
    const kept = read(counter);
    if (kept?.held[id] === undefined) continue;
    const state = stateAt(kept, window, moment);
    states.set(counter, end(state, id, amounts === undefined ? undefined : (amounts[position] ?? amount)));
  }
  return { outcome: undefined, states };
}

/** Ends a reservation whose owner is lost: settled in full if its call had begun, and released otherwise. */
export function abandonReservation(read: ReadState, reservation: Reservation, moment: CounterMoment): Changed<void> {
  const isBegun = reservation.claims.some(({ counter }) => read(counter)?.held[reservation.id]?.isBegun === true);
  return endReservation(read, reservation, isBegun ? [] : undefined, moment);
}

/** Raises the limit of a counter. The outcome is false if it is that of a day that is over: then nothing changes. */
export function raiseLimit(
  read: ReadState,
  { counter, window, day, to }: RaisedCounter & { readonly to: number },
  moment: CounterMoment,
): Changed<boolean> {
  const state = stateAt(read(counter), window, moment);
  const isOver = day !== undefined && day !== state.day;
  return { outcome: !isOver, states: new Map(isOver ? [] : [[counter, raise(state, to)]]) };
}

function limitOf({ raisedTo = 0 }: CounterState, { limit }: Claim): number {
  return Math.max(limit, raisedTo);
}

function readAll(read: ReadState, claims: readonly Claim[], moment: CounterMoment): Map<string, CounterState> {
  return new Map(claims.map(({ counter, window }) => [counter, stateAt(read(counter), window, moment)]));
}

function tooMany(counter: string): GoondanError {
  return new GoondanError(
    'E_COUNTER_LIMIT',
    `The counter ${counter} has ${counterLimits.mostHeld} open reservations.`,
    {
      retryable: true,
    },
  );
}
