/**
 * The connection to PostgreSQL. No other file of this package knows the driver.
 *
 * Every statement is a transaction of its own. A statement whose answer is lost may have happened, so every statement of
 * this package can be repeated.
 */
import { GoondanError } from '@goondan/types';
import postgres from 'postgres';

/** A value of a statement. Texts, numbers, booleans and bytes keep their type; lists become arrays of PostgreSQL. */
export type Value = string | number | bigint | boolean | null | Uint8Array | Date | readonly (string | number)[];

/** A row of an answer. Columns of the type `bigint` are numbers: no number of this package is above 2^53. */
export type Row = Readonly<Record<string, unknown>>;

export interface Database {
  /**
   * Runs one statement. **Errors** — `E_STORE_AWAY` when the server cannot be reached, or the connection was cut: then
   * the statement may have happened; `E_STORE_WRITE` when the server refuses the statement.
   */
  query<Found extends Row>(statement: string, values?: readonly Value[]): Promise<readonly Found[]>;
  /** Calls the listener for each notification of a channel, as long as a connection for it exists. It is only a hint. */
  listen(channel: string, heard: (payload: string) => void): Promise<{ end(): Promise<void> }>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** The most connections at a time. */
  readonly connections?: number;
}

const MOST_CONNECTIONS = 10;
const CONNECT_SECONDS = 5;

export function openDatabase(address: string, { connections = MOST_CONNECTIONS }: DatabaseOptions = {}): Database {
  const sql = postgres(address, {
    max: connections,
    connect_timeout: CONNECT_SECONDS,
    onnotice: () => undefined,
    types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
  });
  return {
    async query<Found extends Row>(statement: string, values: readonly Value[] = []) {
      try {
        // Safe: the statement decides the columns of its rows.
        return (await sql.unsafe(statement, [...values] as never[], { prepare: true })) as unknown as readonly Found[];
      } catch (error) {
        throw codedError(error);
      }
    },
    async listen(channel, heard) {
      try {
        const listening = await sql.listen(channel, heard);
        return { end: () => listening.unlisten() };
      } catch (error) {
        throw codedError(error);
      }
    },
    close: () => sql.end({ timeout: 1 }),
  };
}

/** The classes of SQLSTATE that say that the server is going away or not ready: 57P, 08, 53300. */
const AWAY = /^(57P|08|53300|25006)/;

function codedError(error: unknown): GoondanError {
  const { code = '', message = String(error) } = error as { readonly code?: string; readonly message?: string };
  const isRefused = /^[0-9A-Z]{5}$/.test(code) && !AWAY.test(code);
  if (!isRefused)
    return new GoondanError('E_STORE_AWAY', `The database cannot be reached: ${message}`, {
      retryable: true,
      cause: error,
    });
  return new GoondanError('E_STORE_WRITE', `The database refused a statement: ${message} (${code})`, { cause: error });
}
