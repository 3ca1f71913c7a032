/**
 * The connections of a swarm. Each has one process, which is kept running from `start` to `drain`, independently of the
 * others. In a swarm with several nodes, it runs at the node that has its lease.
 */
import type { ConnectionPlan } from '../../config/swarm-plan.ts';
import type { ConnectionStatus } from '../../control/swarm.ts';
import type { ConnectionFence, ConnectionLeases } from '../../store/cluster-store.ts';
import { type ConnectionDeps, KeptConnection } from './kept-connection.ts';
import { LeasedConnection } from './leased-connection.ts';

export interface ConnectionsDeps extends ConnectionDeps {
  /** The leases of connections; absent in a swarm with one node. */
  readonly leases?: ConnectionLeases;
}

type OpenConnection = KeptConnection | LeasedConnection;

export class Connections {
  readonly #deps: ConnectionsDeps;
  /** Connections by name. */
  #connections: ReadonlyMap<string, OpenConnection>;
  /** Replaced or removed connections whose processes have not exited yet. */
  readonly #leaving = new Map<OpenConnection, Promise<void>>();
  #isDraining = false;

  /** The plans must have unique names. A connection whose values this node misses is left to other nodes. */
  constructor(plans: readonly ConnectionPlan[], deps: ConnectionsDeps) {
    this.#deps = deps;
    this.#connections = new Map(plans.filter(isComplete).map((plan) => [plan.connection, this.#open(plan)]));
  }

  start(): void {
    for (const connection of this.#connections.values()) connection.start();
  }

  /**
   * Replaces the list of connections. Connections that are missing in `plans` or named in `changed` are drained. A
   * replacement starts when the old process has exited, because two processes cannot listen on one port.
   */
  replace(plans: readonly ConnectionPlan[], changed: ReadonlySet<string>, graceMs: number): void {
    if (this.#isDraining) return;
    const before = this.#connections;
    const kept = (name: string) => (changed.has(name) ? undefined : before.get(name));
    const after = plans.filter(isComplete).map((plan) => ({
      name: plan.connection,
      connection: kept(plan.connection) ?? this.#open(plan),
    }));
    this.#connections = new Map(after.map(({ name, connection }) => [name, connection]));
    for (const [name, connection] of before) {
      if (this.#connections.get(name) === connection) continue;
      const gone = connection.drain(graceMs).then(() => void this.#leaving.delete(connection));
      this.#leaving.set(connection, gone);
    }
    for (const { name, connection } of after) {
      if (before.get(name) !== connection) void this.#startAfter(before.get(name), connection);
    }
  }

  /**
   * Asks all processes to end, and kills the remaining ones after `graceMs`. Resolves when all have exited. A second
   * call may shorten the time.
   */
  async drain(graceMs: number): Promise<void> {
    this.#isDraining = true;
    const all = [...this.#connections.values(), ...this.#leaving.keys()];
    await Promise.all(all.map((connection) => connection.drain(graceMs)));
  }

  /** Returns the statuses in the order of the plans. */
  status(): readonly ConnectionStatus[] {
    return [...this.#connections.values()].flatMap((connection) => connection.status() ?? []);
  }

  /** Returns the lease under which the events of a connection are accepted; absent for one that needs none. */
  fenceOf(name: string): ConnectionFence | undefined {
    const connection = this.#connections.get(name);
    return connection instanceof LeasedConnection ? connection.fence : undefined;
  }

  /** Ends the process of a connection whose events are refused, because another node has its lease. */
  lost(name: string): void {
    const connection = this.#connections.get(name);
    if (connection instanceof LeasedConnection) connection.lost();
  }

  #open(plan: ConnectionPlan): OpenConnection {
    const { leases, ...deps } = this.#deps;
    if (leases === undefined || plan.placement === 'every') return new KeptConnection(plan, deps);
    return new LeasedConnection(plan, { ...deps, leases });
  }

  async #startAfter(before: OpenConnection | undefined, connection: OpenConnection): Promise<void> {
    if (before !== undefined) await this.#leaving.get(before);
    // Another reload, or the end of the swarm, may have happened meanwhile.
    const isWanted = [...this.#connections.values()].includes(connection);
    if (isWanted && !this.#isDraining) connection.start();
  }
}

function isComplete({ missing }: ConnectionPlan): boolean {
  return missing === undefined;
}
