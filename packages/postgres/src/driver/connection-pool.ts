/**
 * The connections to a server. A connection runs one statement at a time, so a statement never waits behind another one
 * that is large or slow, unless all connections are in use.
 *
 * The address is read at each connect. If it cannot be read then, the last one is used.
 *
 * Connections belong to a round. `leave` begins the next round, perhaps with another host: connections that nobody uses are
 * closed at once, and the others when their statement has ended. So one statement never ends the statements of others.
 */
import type { SQL } from 'bun';
import type { StoreAddress } from './address.ts';
import { storeAway } from './coded-error.ts';
import { connect, type ConnectOptions } from './connect.ts';
import { within } from './within.ts';

export interface Connection {
  readonly sql: SQL;
  readonly address: StoreAddress;
  readonly round: number;
  /** True after the first answer. Before, every error is that of the connect. */
  hasAnswered: boolean;
  /** True after the host has said that it takes writes. */
  isWritable: boolean;
  isClosed: boolean;
}

/** `connections`: those of an earlier round count until they are closed. */
export interface PoolOptions extends Omit<ConnectOptions, 'host' | 'onClosed'> {
  readonly readAddress: () => StoreAddress;
  /** Told why the address cannot be read. */
  readonly onUnread: (error: unknown) => void;
}

/** Called without a connection when the pool is closed. */
type Waiter = (connection?: Connection) => void;

/** The most statements that wait for a connection. */
const MOST_WAITING = 100_000;

export class ConnectionPool {
  /** The connection that was used last is at the end. */
  readonly #idle: Connection[] = [];
  readonly #busy = new Set<Connection>();
  readonly #waiting = new Set<Waiter>();
  #address: StoreAddress;
  #round = 0;
  #hasTimeout = true;
  #isClosed = false;

  /** **Errors** — `E_STORE_ADDRESS`. */
  constructor(private readonly options: PoolOptions) {
    this.#address = options.readAddress();
  }

  /** The address of the last connect. */
  get address(): StoreAddress {
    return this.#address;
  }

  /** Takes a connection that nobody uses. Waits for one at most `ms`. **Errors** — `E_STORE_AWAY`. */
  async take(ms: number): Promise<Connection> {
    const free = this.#free();
    if (free !== undefined) return free;
    if (this.#waiting.size >= MOST_WAITING) throw this.#away('too many statements wait for a connection');
    const { promise: given, resolve: waiter } = Promise.withResolvers<Connection | undefined>();
    this.#waiting.add(waiter);
    const taken = await within(given, ms).catch(() => {
      this.#waiting.delete(waiter);
      throw this.#away(`all ${this.options.connections} connections were in use for ${ms} ms`);
    });
    if (taken === undefined) throw this.#away('it was closed');
    return taken;
  }

  /** Gives a connection back after its statement. */
  give(connection: Connection): void {
    if (!this.#busy.delete(connection)) return;
    if (connection.round !== this.#round || connection.isClosed || this.#isClosed) this.#close(connection);
    else this.#idle.push(connection);
    this.#serve();
  }

  /** Closes a connection whose statement was too late, or that leads to the wrong server, and begins the next round. */
  leave(connection: Connection): void {
    this.#close(connection);
    if (connection.round === this.#round) {
      this.#round += 1;
      for (const idle of this.#idle.splice(0)) this.#close(idle);
    }
    if (this.#busy.delete(connection)) this.#serve();
  }

  /** As `leave`, when a pooler refused `statement_timeout`. Later connections do without it. */
  leaveTimeout(connection: Connection): void {
    this.#hasTimeout = false;
    this.leave(connection);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const waiter of this.#waiting) waiter();
    this.#waiting.clear();
    const closed = [...this.#idle.splice(0), ...this.#busy].map(({ sql }) => sql.close({ timeout: 1 }));
    await Promise.allSettled(closed);
  }

  #free(): Connection | undefined {
    const idle = this.#idle.pop();
    const free = idle ?? (this.#busy.size < this.options.connections ? this.#open() : undefined);
    if (free !== undefined) this.#busy.add(free);
    return free;
  }

  #open(): Connection {
    this.#readAddress();
    const onClosed = () => {
      connection.isClosed = true;
      const place = this.#idle.indexOf(connection);
      if (place >= 0) this.#idle.splice(place, 1);
    };
    const [address, round] = [this.#address, this.#round];
    const { abandonedMs, ...options } = this.options;
    const timeout = this.#hasTimeout && abandonedMs !== undefined ? { abandonedMs } : {};
    const sql = connect(address, { ...options, ...timeout, host: round, connections: 1, onClosed });
    const state = { hasAnswered: false, isWritable: false, isClosed: false };
    const connection: Connection = { sql, address, round, ...state };
    return connection;
  }

  #readAddress(): void {
    try {
      this.#address = this.options.readAddress();
    } catch (error) {
      this.options.onUnread(error);
    }
  }

  #serve(): void {
    const [waiter] = this.#waiting;
    if (waiter === undefined) return;
    const free = this.#free();
    if (free === undefined) return;
    this.#waiting.delete(waiter);
    waiter(free);
  }

  #close(connection: Connection): void {
    connection.isClosed = true;
    void connection.sql.close({ timeout: 0 }).catch(() => undefined);
  }

  #away(why: string) {
    return storeAway(why, { address: this.#address });
  }
}
