/** The counters of a swarm on files: in memory, and those that must survive a restart also in a file. */
import type { Claim, Reservation } from '../../counters/claim.ts';
import { CounterTable, notReserved } from '../../counters/counter-table.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CounterFile } from '../../workspace/counters/counter-file.ts';
import type { CounterState } from '../../counters/counter-state.ts';
import type { Counters } from '../counters.ts';
import type { Placement } from '../placement.ts';

export interface FileCountersDeps {
  readonly clock: Clock;
  readonly placement: Pick<Placement, 'check'>;
  readonly file: Pick<CounterFile, 'save'>;
  /** The states of an earlier run. */
  readonly states: Iterable<readonly [string, CounterState]>;
  /** Told of a write that failed and that nobody waits for. */
  readonly warn: (message: string) => void;
}

type Changes = readonly (readonly [counter: string, state: CounterState | undefined])[];

export function fileCounters({ clock, placement, file, states, warn }: FileCountersDeps): Counters {
  const table = new CounterTable(clock, states, (swept) => saveLater(swept.map((counter) => [counter, undefined])));
  const stored = (claims: readonly Pick<Claim, 'counter' | 'window'>[]) =>
    claims
      .filter(({ window }) => window === 'ever' || window === 'day')
      .map(({ counter }) => [counter, table.get(counter)] as const);
  // A reservation that has not begun need not be stored: it would be released after a restart. If the end of a call is
  // not stored, it counts in full.
  const saveLater = (changed: Changes) =>
    void save(changed).catch((error: unknown) => warn(`the counters are not written: ${String(error)}`));
  // A call that changes nothing on disk does not fail with an earlier write.
  const save = async (changed: Changes) => (changed.length === 0 ? undefined : file.save(changed));
  return {
    async reserve(_instance, reservation) {
      placement.check();
      const outcome = table.reserve(reservation);
      if (outcome.status !== 'reserved' || reservation.isBegun !== true) return outcome;
      await save(stored(reservation.claims)).catch((error: unknown) => {
        table.end(reservation);
        throw error;
      });
      return outcome;
    },
    async begin(_instance, reservations) {
      placement.check();
      if (!table.begin(reservations)) throw notReserved();
      await save(stored(reservations.flatMap(({ claims }) => claims)));
    },
    async settle(reservation, amounts) {
      table.end(reservation, amounts);
      saveLater(stored(reservation.claims));
    },
    async release(reservation) {
      const isStored = reservation.claims.some(({ counter }) => table.get(counter)?.held[reservation.id]?.isBegun);
      table.end(reservation);
      if (isStored) saveLater(stored(reservation.claims));
    },
    async abandon(reservations) {
      for (const reservation of reservations) table.abandon(reservation);
      saveLater(stored(reservations.flatMap(({ claims }: Reservation) => claims)));
    },
    async raise(counter, to) {
      placement.check();
      const isRaised = table.raise(counter, to);
      if (isRaised) await save(stored([counter]));
      return isRaised;
    },
    async drop(beginnings) {
      const dropped = table.drop(beginnings);
      if (dropped.length > 0) await file.save(dropped.map((counter) => [counter, undefined] as const));
    },
  };
}
