/** Amounts of model calls that all processes and nodes of a swarm count together: limits of models, and budgets. */
import type { AgentAddress } from '@goondan/types';
import type { RaisedCounter, Reservation, ReserveOutcome, WaitingReservation } from '../counters/claim.ts';

/**
 * Invariants that every store guarantees:
 * 1. The claims of a reservation are made together or not at all, and never more than the limit is reserved or settled.
 * 2. When `begin` or `raise` resolves, it survives the end of the node, for windows `ever` and `day`.
 * 3. Only the owner of the instance reserves and begins; another one gets `E_FENCED`.
 * 4. The reservations of a node that has ended are settled in full if their calls had begun, and released otherwise. A
 *    place of the window `call` is always released.
 * 5. Every operation can be repeated. A reservation that was made twice with the same id counts once.
 * 6. The clock of the store decides windows.
 */
export interface Counters {
  /**
   * Reserves all claims of a call, or none. **Errors** — `E_FENCED`, `E_COUNTER_LIMIT`; a store that is elsewhere also
   * `E_STORE_AWAY`.
   */
  reserve(instance: AgentAddress, reservation: WaitingReservation): Promise<ReserveOutcome>;
  /**
   * Notes that the calls of these reservations begin now. **Errors** — as `reserve`, and those of the disk; the calls must
   * not be made then.
   */
  begin(instance: AgentAddress, reservations: readonly Reservation[]): Promise<void>;
  /** Ends a reservation with the real amount of each claim. An unknown one is ignored. */
  settle(reservation: Reservation, amounts: readonly number[]): Promise<void>;
  /** Ends a reservation whose call was not made. An unknown one is ignored. */
  release(reservation: Reservation): Promise<void>;
  /** Ends the reservations of a process of this node that has ended (invariant 4). Unknown ones are ignored. */
  abandon(reservations: readonly Reservation[]): Promise<void>;
  /**
   * Raises the limit of a counter, until its window is over. A lower limit than the current one changes nothing. Returns
   * false if the limit is that of a day that is over: then nothing changes, either.
   */
  raise(counter: RaisedCounter, to: number): Promise<boolean>;
  /** Removes the counters whose names begin so: those of a turn that has ended, or of a deleted conversation. */
  drop(beginnings: readonly string[]): Promise<void>;
}
