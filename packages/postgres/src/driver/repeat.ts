import { GoondanError } from '@goondan/types';
import { isLate, isRefusedLogin } from './coded-error.ts';
import type { Database, Row, Value } from './database.ts';

const FIRST_WAIT_MS = 20;
const MOST_WAIT_MS = 1000;
/** The most time of a statement, as a multiple of the usual time. */
export const MOST_TIMES = 16;

/** Runs a statement again while the store is away and the caller may wait. */
export type Query = <Found extends Row>(statement: string, values?: readonly Value[]) => Promise<readonly Found[]>;

/**
 * Returns `query` of a database that repeats a statement after `E_STORE_AWAY`, with growing waits, as long as `mayRepeat`
 * returns true. Then it rejects with the last error. A refused password is repeated, too: it may have changed before the file
 * of the address. Only for statements that can be repeated. A statement that was too late gets twice the time, so a large one
 * ends on a slow database, too.
 */
export function repeating(database: Pick<Database, 'query'>, mayRepeat: () => boolean): Query {
  return async <Found extends Row>(statement: string, values?: readonly Value[]) => {
    let times = 1;
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, MOST_WAIT_MS)) {
      try {
        return await database.query<Found>(statement, values, { times, mayWait: mayRepeat });
      } catch (error) {
        if (!mayPass(error) || !mayRepeat()) throw error;
        if (isLate(error)) times = Math.min(2 * times, MOST_TIMES);
      }
      await new Promise((resolve) => void setTimeout(resolve, waitMs * (0.5 + Math.random() / 2)));
    }
  };
}

/** Returns true for an error after which the same statement can succeed later. */
export function mayPass(error: unknown): error is GoondanError {
  return GoondanError.is(error) && (error.code === 'E_STORE_AWAY' || isRefusedLogin(error));
}
