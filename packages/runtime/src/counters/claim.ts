/**
 * Amounts that are counted over all processes of a swarm: calls, tokens and money of model calls. A call reserves its
 * amounts before it begins, and settles them with the real amounts when it has ended.
 */

/**
 * The time for which an amount counts. `ever`: always. `day`: until the day ends, in UTC. `minute`: for a minute after it
 * was reserved. `call`: until the call ends, which makes it a place among concurrent calls.
 */
export type CounterWindow = 'ever' | 'day' | 'minute' | 'call';

/** A part of a counter that one call needs. */
export interface Claim {
  /** The whole name of the counter, as `nameCounter` makes it. */
  readonly counter: string;
  readonly window: CounterWindow;
  readonly amount: number;
  /** The most that the counter may count. A person may have raised it. */
  readonly limit: number;
  /** If true, the claim is never refused. The first one of a window that is above the limit is marked. */
  readonly isSoft?: boolean;
}

/** A counter whose limit is raised. */
export interface RaisedCounter extends Pick<Claim, 'counter' | 'window'> {
  /** The day since 1970 whose limit is raised; absent for other windows. */
  readonly day?: number;
}

/** The claims of one call, which are reserved together or not at all. */
export interface Reservation {
  /** Unique for each attempt of each call. */
  readonly id: string;
  readonly claims: readonly Claim[];
}

/** A reservation that is made again and again until it fits. */
export interface WaitingReservation extends Reservation {
  /** The agent in whose name the call takes its turn; absent if agents do not take turns. The first counter keeps the turns. */
  readonly turnOf?: string;
  /** If true, the call begins with the reservation. */
  readonly isBegun?: boolean;
}

export type ReserveOutcome =
  /** `marked`: the soft claims that are the first ones above their limit, as positions. */
  | { readonly status: 'reserved'; readonly marked: readonly number[] }
  /**
   * `claim`: the position of a claim that does not fit. `used`: the amount that counts. `reserved`: the part of it that
   * open calls have reserved. `limit`: the limit, as raised by people.
   */
  | {
      readonly status: 'refused';
      readonly claim: number;
      readonly used: number;
      readonly reserved: number;
      readonly limit: number;
      /** The day since 1970 that the counter counts, for a window of a day. */
      readonly day?: number;
      /** The time after which the same claims may fit; absent if no time helps. */
      readonly retryAfterMs?: number;
    }
  /** Another agent has waited for its turn since longer ago. */
  | { readonly status: 'notYet' };

/** Limits of the counters, so that mistakes do not fill the store. */
export const counterLimits = { mostCounters: 100_000, mostHeld: 10_000, mostAgents: 1_000 };
