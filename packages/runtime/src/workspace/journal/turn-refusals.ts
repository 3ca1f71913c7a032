/** The reasons why a turn cannot start or go on. */
import { GoondanError } from '@goondan/types';
import { shortTurnId } from '../../ports/turn-ids.ts';
import type { LogState } from '../records/log-state.ts';
import type { InstancePlace } from './instance-place.ts';

/**
 * Makes the error for a turn whose event is handled but whose result is no longer kept. Ids are kept longer than
 * results; without this error the turn would run twice.
 */
export function forgottenTurn(turnId: string): GoondanError {
  const message = `The event of turn ${shortTurnId(turnId)} was handled; how that ended is no longer kept`;
  return new GoondanError('E_TURN_FORGOTTEN', message);
}

/**
 * Throws if the turn of another event was interrupted: it has to be resumed first, because its event was accepted before.
 * **Errors** — `E_STORE_ORDER`.
 */
export function refuseOutOfOrder(turnId: string, { open, inbox }: Pick<LogState, 'open' | 'inbox'>): void {
  const { turnId: interrupted, input = 0 } = open;
  if (interrupted === undefined || interrupted === turnId || input <= inbox) return;
  throw outOfOrder(`Turn ${turnId} cannot start: ${interrupted} was interrupted and must be resumed first`);
}

/** Throws when the outbox is full. **Errors** — `E_OUTBOX_FULL`. */
export function refuseFullOutbox(
  { name, limits }: Pick<InstancePlace, 'name' | 'limits'>,
  { answers: { size } }: LogState,
): void {
  if (size < limits.outboxEntries) return;
  throw new GoondanError('E_OUTBOX_FULL', `${name} holds ${size} answers nobody fetched`);
}

export function outOfOrder(message: string): GoondanError {
  return new GoondanError('E_STORE_ORDER', message);
}

/** Throws unless the next record of the turn is at `at`. **Errors** — `E_STORE_ORDER`. */
export function refuseGap(turnId: string, records: number, at: number): void {
  if (at !== records) throw outOfOrder(`Turn ${turnId} has ${records} records; the next one cannot be at ${at}`);
}
