/**
 * The seam between a model call and the counters of its swarm. In an agent process, `process/ipc-counters.ts` implements it
 * and forwards requests to the orchestrator.
 *
 * Invariants that every implementation guarantees: when `begin` resolves, the calls are counted, however this process ends.
 * A reservation that was made and has not begun is released when its turn ends.
 */
import { type AgentAddress, GoondanError, type JsonObject } from '@goondan/types';
import type { CallClaim } from '../../ipc/from-agent.ts';
import { CounterTable } from '../../counters/counter-table.ts';
import { nameCounter, namesBeginWith } from '../../counters/counter-name.ts';
import { WaitingCalls } from '../../counters/waiting-calls.ts';
import type { Reservation, ReserveOutcome } from '../../counters/claim.ts';
import type { Clock } from '../../ports/clock.ts';

export interface CallReservation {
  /** Unique for each attempt of each call. */
  readonly id: string;
  readonly turnId: string;
  readonly claims: readonly CallClaim[];
  /** The words for each claim. If they are given, the call waits until the claims fit, and begins then. */
  readonly limits?: readonly string[];
}

export type CallReserved =
  | { readonly status: 'reserved'; readonly marked: readonly number[]; readonly waitedMs: number }
  | Pick<
      Extract<ReserveOutcome, { readonly status: 'refused' }>,
      'status' | 'claim' | 'used' | 'reserved' | 'limit' | 'day'
    >;

export interface CallCounters {
  /**
   * Rejects with the signal's reason when it aborts. `onWait` is called once, with the limit in words, if the call has to
   * wait. **Errors** — `E_MODEL_LIMIT`, `E_FENCED`, those of the store.
   */
  reserve(reservation: CallReservation, signal: AbortSignal, onWait?: (limit: string) => void): Promise<CallReserved>;
  /** **Errors** — as `reserve`; the calls must not be made then. */
  begin(ids: readonly string[], signal: AbortSignal): Promise<void>;
  /** Ends a reservation with the real amounts; without amounts, releases it. An unknown one is ignored. */
  end(id: string, amounts?: readonly number[]): void;
  /** Raises a budget. `budget`: the arguments of the question that a person approved. */
  raise(approvalId: string, budget: JsonObject, signal: AbortSignal): Promise<void>;
}

/** The counters of an agent that runs alone, in memory. */
export function ownCounters(clock: Clock, address: AgentAddress): CallCounters {
  const table = new CounterTable(clock);
  const waiting = new WaitingCalls({ clock });
  const open = new Map<string, Reservation>();
  let lastTurn = '';
  return {
    async reserve({ id, turnId, claims, limits }, signal, onWait) {
      // An agent has one turn at a time, so the counters of the one before count no more.
      if (turnId !== lastTurn) table.drop(namesBeginWith(address, lastTurn));
      lastTurn = turnId;
      const place = { ...address, turnId };
      const named = claims.map(({ scope, counter, ...claim }) => ({
        ...claim,
        counter: nameCounter(scope, counter, place),
      }));
      const reservation = { id, claims: named };
      if (limits !== undefined) {
        const call = { ...reservation, turnOf: address.agentName, isBegun: true };
        const reserve = async () => table.reserve(call);
        const waitedMs = await waiting.wait({
          reservation: call,
          limits,
          signal,
          reserve,
          release: () => table.end(call),
          ...(onWait && { waits: onWait }),
        });
        open.set(id, reservation);
        return { status: 'reserved', marked: [], waitedMs };
      }
      const outcome = table.reserve(reservation);
      if (outcome.status === 'reserved') open.set(id, reservation);
      if (outcome.status === 'reserved') return { ...outcome, waitedMs: 0 };
      if (outcome.status === 'refused') return outcome;
      throw new GoondanError('E_UNEXPECTED', 'A reservation without turns waits for a turn.');
    },
    async begin(ids) {
      table.begin(ids.flatMap((id) => open.get(id) ?? []));
    },
    end(id, amounts) {
      const reservation = open.get(id);
      open.delete(id);
      if (reservation === undefined) return;
      table.end(reservation, amounts);
      waiting.ended(reservation.claims.map(({ counter }) => counter));
    },
    raise: () => Promise.reject(new GoondanError('E_APPROVAL_NOBODY', 'This agent runs where no person can be asked.')),
  };
}
