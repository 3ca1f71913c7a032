/** The counters of one process in memory: those of files, and those of an agent that runs alone. */
import { GoondanError } from '@goondan/types';
import type { Clock } from '../ports/clock.ts';
import {
  counterLimits,
  type RaisedCounter,
  type Reservation,
  type ReserveOutcome,
  type WaitingReservation,
} from './claim.ts';
import {
  abandonReservation,
  beginReservations,
  type Changed,
  endReservation,
  raiseLimit,
  reserveClaims,
} from './change-counters.ts';
import { type CounterState, dayOf, type CounterMoment } from './counter-state.ts';

/** The owner of every reservation that this process makes. All others are from before its start. */
const OWNER = 'here';

export class CounterTable {
  readonly #states: Map<string, CounterState>;
  readonly #now: () => number;
  #sweptAt: number;

  /** `kept`: the states of an earlier process, whose reservations are lost. `onSwept`: told of removed counters of days. */
  constructor(
    clock: Clock,
    kept: Iterable<readonly [string, CounterState]> = [],
    private readonly onSwept: (counters: readonly string[]) => void = () => undefined,
  ) {
    this.#now = steadyNow(clock);
    this.#sweptAt = this.#now();
    this.#states = new Map(kept);
    for (const [counter, state] of this.#states) this.#states.set(counter, withOwner(state, 'before'));
  }

  get(counter: string): CounterState | undefined {
    return this.#states.get(counter);
  }

  reserve(reservation: WaitingReservation): ReserveOutcome {
    this.#sweep();
    const isNew = reservation.claims.some(({ counter }) => !this.#states.has(counter));
    if (isNew && this.#states.size >= counterLimits.mostCounters) throw tooManyCounters();
    return this.#apply(reserveClaims(this.#read, reservation, OWNER, this.#moment));
  }

  begin(reservations: readonly Reservation[]): boolean {
    return this.#apply(beginReservations(this.#read, reservations, this.#moment));
  }

  /** Settles a reservation with the real amounts; without amounts, releases it. */
  end(reservation: Reservation, amounts?: readonly number[]): void {
    this.#apply(endReservation(this.#read, reservation, amounts, this.#moment));
  }

  abandon(reservation: Reservation): void {
    this.#apply(abandonReservation(this.#read, reservation, this.#moment));
  }

  raise(counter: RaisedCounter, to: number): boolean {
    return this.#apply(raiseLimit(this.#read, { ...counter, to }, this.#moment));
  }

  /** Removes the counters whose names begin so. Returns their names. */
  drop(beginnings: readonly string[]): readonly string[] {
    const dropped = [...this.#states.keys()].filter((name) => beginnings.some((each) => name.startsWith(each)));
    for (const name of dropped) this.#states.delete(name);
    return dropped;
  }

  readonly #read = (counter: string) => this.#states.get(counter);

  get #moment(): CounterMoment {
    return { now: this.#now(), isLost: (owner) => owner !== OWNER };
  }

  #apply<Outcome>({ outcome, states }: Changed<Outcome>): Outcome {
    for (const [counter, state] of states) this.#states.set(counter, state);
    return outcome;
  }

  /** Removes counters of windows that are over, once a minute. */
  #sweep(): void {
    const now = this.#now();
    if (now - this.#sweptAt < 60_000) return;
    this.#sweptAt = now;
    const over = [...this.#states].filter(([, state]) => isOver(state, now));
    for (const [counter] of over) this.#states.delete(counter);
    this.onSwept(over.flatMap(([counter, { window }]) => (window === 'day' ? [counter] : [])));
  }
}

/** Returns true if nothing of the state counts any more. */
export function isOver({ window, day, recent = [], held, turns }: CounterState, now: number): boolean {
  if (window === 'ever' || Object.keys(held).length > 0) return false;
  if (window === 'day') return (day ?? 0) < dayOf(now);
  const last = Math.max(0, ...Object.values(turns ?? {}).map(({ servedAt }) => servedAt));
  return (recent.at(-1)?.[0] ?? 0) * 1_000 < now - 120_000 && last < now - 600_000;
}

export function tooManyCounters(): GoondanError {
  return new GoondanError(
    'E_COUNTER_LIMIT',
    `The swarm has ${counterLimits.mostCounters} counters, and cannot count anything else.`,
  );
}

function withOwner(state: CounterState, owner: string): CounterState {
  const held = Object.entries(state.held).map(([id, each]) => [id, { ...each, owner }]);
  return { ...state, held: Object.fromEntries(held) };
}

/** Returns the time of day, which follows the clock forward and never goes back. */
function steadyNow(clock: Clock): () => number {
  let offset = -Infinity;
  return () => {
    const elapsed = clock.elapsed();
    offset = Math.max(offset, clock.now().getTime() - elapsed);
    return offset + elapsed;
  };
}

/** The error of a call that begins without its reservation. */
export function notReserved(): GoondanError {
  return new GoondanError('E_FENCED', 'The reservation of this call was ended, because its process counts as lost.');
}
