/**
 * The connection to PostgreSQL. No other file of this package knows the driver.
 *
 * Every statement is a transaction of its own. A statement whose answer is lost may have happened, so every statement of
 * this package can be repeated.
 */
import { readFileSync } from 'node:fs';
import type { GoondanError } from '@goondan/types';
import postgres from 'postgres';
import { StoreAddress, type TlsMode } from './address.ts';
import { codedError, isReadOnly, storeAway } from './coded-error.ts';

/** A value of a statement. Texts, numbers, booleans and bytes keep their type; lists become arrays of PostgreSQL. */
export type Value = string | number | bigint | boolean | null | Uint8Array | Date | readonly (string | number)[];

/** A row of an answer. Columns of the type `bigint` are numbers: no number of this package is above 2^53. */
export type Row = Readonly<Record<string, unknown>>;

export interface Database {
  /**
   * Runs one statement. **Errors** — `E_STORE_AWAY` when the server cannot be reached, does not answer in time, or the
   * connection was cut: then the statement may have happened; `E_STORE_ADDRESS`, `E_STORE_SCHEMA`, `E_DISK_FULL` and
   * `E_STORE_WRITE` when the server refuses the connection or the statement.
   */
  query<Found extends Row>(statement: string, values?: readonly Value[]): Promise<readonly Found[]>;
  /** Calls the listener for each notification of a channel, as long as a connection for it exists. It is only a hint. */
  listen(channel: string, heard: (payload: string) => void): Promise<{ end(): Promise<void> }>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** The most connections at a time. Further statements wait for one, and their time counts. */
  readonly connections?: number;
  /** The time in which a statement is answered. After it, the server counts as away. */
  readonly statementMs?: number;
}

const MOST_CONNECTIONS = 10;
const STATEMENT_MS = 5000;
const CONNECT_SECONDS = 5;
const MOST_BACKOFF_SECONDS = 0.5;

type Sql = ReturnType<typeof connect>;

/** Opens a database. Nothing is connected before the first statement. **Errors** — `E_STORE_ADDRESS`. */
export function openDatabase(
  given: string | StoreAddress,
  { connections = MOST_CONNECTIONS, statementMs = STATEMENT_MS }: DatabaseOptions = {},
): Database {
  const address = typeof given === 'string' ? StoreAddress.parse(given) : given;
  let sql = connect(address, connections);
  let isClosed = false;

  /** Leaves connections that lead nowhere, or to a server that takes no writes. Their statements end as away. */
  const replace = (used: Sql) => {
    if (used !== sql || isClosed) return;
    sql = connect(address, connections);
    void used.end({ timeout: 0 }).catch(() => undefined);
  };
  const fail = (error: unknown, used: Sql): GoondanError => {
    const coded = codedError(error, address);
    if (isReadOnly(coded)) replace(used);
    return coded;
  };
  return {
    async query<Found extends Row>(statement: string, values: readonly Value[] = []) {
      if (isClosed) throw storeAway('it was closed');
      const used = sql;
      // Safe: the statement decides the columns of its rows, and the driver takes the types of `Value`.
      const asked = used.unsafe(statement, [...values] as never[], { prepare: address.mayPrepare });
      const answered = asked as unknown as Promise<readonly Found[]>;
      return within(answered, statementMs, (late) => {
        if (late) replace(used);
      }).catch((error: unknown) => {
        throw fail(error, used);
      });
    },
    async listen(channel, heard) {
      // A notification that is missed is found by a scan, so the listener needs a connection of its own and no more.
      const own = connect(address, 1);
      try {
        await within(own.listen(channel, heard), statementMs);
        return { end: () => own.end({ timeout: 0 }) };
      } catch (error) {
        void own.end({ timeout: 0 }).catch(() => undefined);
        throw codedError(error, address);
      }
    },
    async close() {
      isClosed = true;
      await sql.end({ timeout: 1 });
    },
  };
}

function connect(address: StoreAddress, connections: number) {
  const { hosts, socketFolder, database, user, tls, rootCertificate } = address;
  // The driver takes lists here, but its types do not say so.
  const place: object =
    socketFolder === undefined
      ? { host: hosts.map(({ host }) => host), port: hosts.map(({ port }) => port) }
      : { path: `${socketFolder}/.s.PGSQL.5432` };
  return address.withPassword((password) =>
    postgres({
      ...place,
      database,
      ...(user !== undefined && { user }),
      ...(password !== undefined && { password }),
      ssl: secured(tls, rootCertificate),
      // With several hosts, only the one that takes writes is of use.
      ...(hosts.length > 1 && { target_session_attrs: 'read-write' as const }),
      max: connections,
      connect_timeout: CONNECT_SECONDS,
      backoff: (retries: number) => Math.min(0.02 * 2 ** retries, MOST_BACKOFF_SECONDS) * (0.5 + Math.random() / 2),
      onnotice: () => undefined,
      connection: { application_name: 'goondan' },
      types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
    }),
  );
}

/** `verify-full` checks the certificate and the name of the host; the other modes encrypt only. */
function secured(tls: TlsMode, rootCertificate: string | undefined): SecureMode {
  if (tls === 'disable') return false;
  if (tls !== 'verify-full' || rootCertificate === undefined) return tls;
  return { ca: readFileSync(rootCertificate, 'utf8') };
}

type SecureMode = false | Exclude<TlsMode, 'disable'> | { readonly ca: string };

/** Waits for an answer, but not longer than the time. `ended` is told whether the answer was late. */
async function within<Result>(answer: Promise<Result>, ms: number, ended?: (isLate: boolean) => void): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isLate = false;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      isLate = true;
      reject(new Error(`no answer in ${ms} ms`));
    }, ms);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
    ended?.(isLate);
    if (isLate) answer.catch(() => undefined);
  }
}
