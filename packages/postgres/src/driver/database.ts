/**
 * The connection to PostgreSQL. No other folder of this package knows the driver.
 *
 * Every statement is a transaction of its own. A statement whose answer is lost may have happened, so every statement of
 * this package can be repeated. With several hosts, only the one that takes writes is used.
 */
import { GoondanError } from '@goondan/types';
import { addressReader, type GivenAddress } from './address.ts';
import { codedError, isElsewhere, isLate, isRefusedSetting, storeAway } from './coded-error.ts';
import { type Connection, ConnectionPool } from './connection-pool.ts';
import { listenAlways } from './listen-always.ts';
import { MOST_TIMES } from './repeat.ts';
import { type Patience, within } from './within.ts';

/** A value of a statement. Texts, numbers, booleans and bytes keep their type; lists become arrays of PostgreSQL. */
export type Value = string | number | bigint | boolean | null | Uint8Array | Date | readonly (string | number)[];

/** A row of an answer. Columns of the type `bigint` are numbers: no number of this package is above 2^53. */
export type Row = Readonly<Record<string, unknown>>;

export interface Database {
  /**
   * Runs one statement. **Errors** — `E_STORE_AWAY` when the server cannot be reached, does not answer in time, or the
   * connection was cut: then the statement may have happened; `E_STORE_ADDRESS`, `E_STORE_SCHEMA`, `E_DISK_FULL` and
   * `E_STORE_WRITE` when the server refuses the connection or the statement. `patience` is more time than usual.
   */
  query<Found extends Row>(
    statement: string,
    values?: readonly Value[],
    patience?: Patience,
  ): Promise<readonly Found[]>;
  /**
   * Calls the listener for each notification of a channel, as long as a connection for it exists. It is only a hint.
   * Resolves when the server listens; after that, a connection that is cut is made again.
   */
  listen(channel: string, heard: (payload: string) => void): Promise<{ end(): Promise<void> }>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** The most connections at a time. Further statements wait for one, at most `statementMs`. */
  readonly connections?: number;
  /** The time in which a statement is answered. After it, the server counts as away, and the connection is closed. */
  readonly statementMs?: number;
  /** The time in which a connection is made. After it, the server counts as away. */
  readonly connectMs?: number;
  /** How often `statementMs` may pass for a statement with patience. After that, the server ends it. `MOST_TIMES` when absent. */
  readonly mostTimes?: number;
  /** The node or the command, as `pg_stat_activity` shows it. */
  readonly name?: string;
  /** Told why a connection cannot be made, each reason once until one could be made. Must not throw. */
  readonly onProblem?: (problem: string) => void;
}

const MOST_CONNECTIONS = 10;
const STATEMENT_MS = 5000;
const CONNECT_MS = 2000;
/** The most reasons that are told before a connection can be made again. */
const MOST_TOLD = 100;

/** Opens a database. Nothing is connected before the first statement. **Errors** — `E_STORE_ADDRESS`. */
export function openDatabase(given: GivenAddress, options: DatabaseOptions = {}): Database {
  const { connections = MOST_CONNECTIONS, statementMs = STATEMENT_MS, connectMs = CONNECT_MS } = options;
  const { mostTimes = MOST_TIMES, name, onProblem = () => undefined } = options;
  const readAddress = addressReader(given);
  const connecting = { connectMs, ...(name !== undefined && { name }) };
  const told = new Set<string>();
  const tell = (error: unknown) => {
    const problem = GoondanError.is(error) ? `${error.code}: ${error.message}` : String(error);
    if (told.has(problem) || told.size === MOST_TOLD) return;
    told.add(problem);
    onProblem(problem);
  };
  const pool = new ConnectionPool({
    readAddress,
    onUnread: tell,
    connections,
    ...connecting,
    abandonedMs: statementMs * mostTimes,
  });
  let isClosed = false;

  const ask = async (
    used: Connection,
    statement: string,
    values: readonly Value[],
    patience?: Patience,
  ): Promise<readonly Row[]> => {
    try {
      const rows = await within(used.sql.unsafe(statement, [...values]), statementMs, patience);
      if (!used.hasAnswered) told.clear();
      used.hasAnswered = true;
      return rows;
    } catch (error) {
      const coded = codedError(error, used.address, statement);
      if (isRefusedSetting(coded)) {
        pool.leaveTimeout(used);
        throw coded;
      }
      const isOfConnect = !used.hasAnswered && !isLate(coded);
      if (isOfConnect && (coded.code === 'E_STORE_AWAY' || coded.code === 'E_STORE_ADDRESS')) tell(coded);
      if (isElsewhere(coded, used.address.hosts.length)) pool.leave(used);
      throw coded;
    }
  };
  const checkWritable = async (used: Connection) => {
    const [row] = await ask(used, IS_READ_ONLY, []);
    if (row?.['is_read_only'] === true) {
      pool.leave(used);
      throw storeAway('the server takes no writes', { address: used.address });
    }
    used.isWritable = true;
  };
  /** Takes a connection to the host that takes writes. Each host is asked once. */
  const takeUsable = async (): Promise<Connection> => {
    let error: unknown;
    for (let attempt = 0; attempt < Math.max(1, pool.address.hosts.length); attempt += 1) {
      const used = await pool.take(statementMs);
      if (used.address.hosts.length < 2 || used.isWritable) return used;
      try {
        await checkWritable(used);
        return used;
      } catch (refusal) {
        pool.give(used);
        error = refusal;
      }
    }
    throw error;
  };
  const askOnce = async (statement: string, values: readonly Value[], patience?: Patience): Promise<readonly Row[]> => {
    const used = await takeUsable();
    try {
      return await ask(used, statement, values, patience);
    } finally {
      pool.give(used);
    }
  };
  const askUsable: typeof askOnce = async (...question) => {
    try {
      return await askOnce(...question);
    } catch (error) {
      // Nothing was asked: the pooler refused the connect. The next one is without the setting.
      if (GoondanError.is(error) && isRefusedSetting(error)) return askOnce(...question);
      throw error;
    }
  };
  return {
    async query<Found extends Row>(statement: string, values: readonly Value[] = [], patience?: Patience) {
      if (isClosed) throw storeAway('it was closed');
      // Safe: the statement decides the columns of its rows.
      return (await askUsable(statement, values, patience)).map(withNumbers) as unknown as readonly Found[];
    },
    listen: (channel, heard) => listenAlways(readAddress, connecting, channel, heard),
    async close() {
      isClosed = true;
      await pool.close();
    },
  };
}

const IS_READ_ONLY = `select pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as is_read_only`;

/** The driver returns each `bigint` as a BigInt. */
function withNumbers(row: Row): Row {
  const read: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(row)) {
    if (typeof value === 'bigint') read[name] = Number(value);
    else read[name] = Array.isArray(value) && typeof value[0] === 'bigint' ? value.map(Number) : value;
  }
  return read;
}
