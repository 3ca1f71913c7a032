/** The reasons why a turn cannot start or go on. */
import { GoondanError } from '@goondan/types';
import { turnIdOf } from '../../ports/ids.ts';
import { shortTurnId } from '../../ports/turn-ids.ts';
import type { InboxEntry } from '../inbox/inbox-lines.ts';
import { findEntry } from '../inbox/inbox-reader.ts';
import type { StoredInstance } from '../layout/instance-paths.ts';
import type { FinishedTurns } from '../records/finished-turns.ts';
import type { LogState } from '../records/log-state.ts';

/**
 * Makes the error for a turn whose event is handled but whose result is no longer kept. Ids are kept longer than
 * results; without this error the turn would run twice.
 */
export function forgottenTurn(turnId: string): GoondanError {
  const message = `The event of turn ${shortTurnId(turnId)} was handled; how that ended is no longer kept`;
  return new GoondanError('E_TURN_FORGOTTEN', message);
}

/** Throws unless the turn is the next one. **Errors** — `E_STORE_ORDER`. */
export function refuseOutOfOrder(
  turnId: string,
  before: {
    readonly pending: readonly InboxEntry[];
    readonly interrupted: string | undefined;
    readonly finished: Pick<FinishedTurns, 'has'>;
  },
): void {
  const { pending, interrupted, finished } = before;
  const entry = findEntry(pending, turnId);
  const first = pending.find(({ event }) => !finished.has(turnIdOf(event.id)));
  if (entry && first && first !== entry) {
    throw outOfOrder(`Turn ${turnId} cannot start: ${turnIdOf(first.event.id)} was accepted before it`);
  }
  if (interrupted !== undefined && interrupted !== turnId && findEntry(pending, interrupted)) {
    throw outOfOrder(`Turn ${turnId} cannot start: ${interrupted} was interrupted and must be resumed first`);
  }
}

/** Throws when the outbox is full. **Errors** — `E_OUTBOX_FULL`. */
export function refuseFullOutbox({ paths, limits }: StoredInstance, { answers: { size } }: LogState): void {
  if (size < limits.outboxEntries) return;
  throw new GoondanError('E_OUTBOX_FULL', `${paths.folder} holds ${size} answers nobody fetched`);
}

export function outOfOrder(message: string): GoondanError {
  return new GoondanError('E_STORE_ORDER', message);
}

/** Throws unless the next record of the turn is at `at`. **Errors** — `E_STORE_ORDER`. */
export function refuseGap(turnId: string, records: number, at: number): void {
  if (at !== records) throw outOfOrder(`Turn ${turnId} has ${records} records; the next one cannot be at ${at}`);
}
