/**
 * A connection of a swarm with several nodes. One node runs it, and the others wait for its lease. A connection with
 * `placement: every` runs at each node, and needs no lease.
 *
 * Invariants: 1. Its process runs only while this node has the lease, and its events are accepted only under that lease.
 * 2. The next node gets the files of its folder.
 */
import type { ConnectionPlan } from '../../config/swarm-plan.ts';
import type { ConnectionStatus } from '../../control/swarm.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ConnectionFence, ConnectionLease, ConnectionLeases } from '../../store/cluster-store.ts';
import { type ConnectionDeps, KeptConnection } from './kept-connection.ts';
import { KeptFolder } from './kept-folder.ts';

/** The time between two attempts to get a lease. */
const CLAIM_EVERY_MS = 1_000;

export interface LeasedDeps extends ConnectionDeps {
  readonly leases: Pick<ConnectionLeases, 'claim'>;
  readonly clock: Clock;
}

interface Run {
  readonly lease: ConnectionLease;
  readonly connection: KeptConnection;
  readonly folder: KeptFolder;
}

export class LeasedConnection {
  #run: Run | undefined;
  #callOff: (() => void) | undefined;
  #claiming: Promise<void> = Promise.resolve();
  #drained: Promise<void> | undefined;

  constructor(
    private readonly plan: ConnectionPlan,
    private readonly deps: LeasedDeps,
  ) {}

  start(): void {
    if (this.#drained === undefined) this.#claiming = this.#claim();
  }

  /** Ends the process, keeps its folder, and gives the lease to other nodes. */
  drain(graceMs: number): Promise<void> {
    this.#callOff?.();
    void this.#run?.connection.drain(graceMs);
    return (this.#drained ??= this.#end(graceMs));
  }

  /** Returns nothing while another node has the connection. */
  status(): ConnectionStatus | undefined {
    return this.#run?.connection.status();
  }

  /** The lease under which the events of this connection are accepted. */
  get fence(): ConnectionFence | undefined {
    return this.#run && { connection: this.plan.connection, epoch: this.#run.lease.epoch };
  }

  /** Ends the process at once, because another node has the connection, and waits for the lease again. */
  lost(): void {
    const run = this.#run;
    if (run === undefined) return;
    this.#run = undefined;
    this.#report('warn', 'connection.lost', 'Another node has this connection. Its process is killed.');
    run.folder.abandon();
    void run.connection.drain(0);
    this.#later();
  }

  async #claim(): Promise<void> {
    const { leases, makeWorkFolder, clock } = this.deps;
    const { connection: name } = this.plan;
    try {
      const lease = await leases.claim(name);
      if (lease === undefined || this.#drained !== undefined) {
        await lease?.release();
        return this.#later();
      }
      const warn = (message: string) => this.#report('warn', 'connection.folder', message);
      const folder = new KeptFolder({ clock, lease, folder: makeWorkFolder(name), warn, lost: () => this.lost() });
      await folder.open();
      const connection = new KeptConnection(this.plan, this.deps);
      this.#run = { lease, connection, folder };
      connection.start();
    } catch (error) {
      this.#report('warn', 'connection.claim', `It cannot be started now, and is tried again: ${String(error)}`);
      this.#later();
    }
  }

  #later(): void {
    if (this.#drained !== undefined) return;
    this.#callOff?.();
    this.#callOff = this.deps.clock.after(CLAIM_EVERY_MS, () => this.start());
  }

  async #end(graceMs: number): Promise<void> {
    await this.#claiming;
    const run = this.#run;
    if (run === undefined) return;
    await run.connection.drain(graceMs);
    await run.folder.close();
    // If the store is away, the lease ends with that of the node.
    await run.lease.release().catch(() => undefined);
    this.#run = undefined;
  }

  #report(level: 'warn', event: string, message: string): void {
    const time = this.deps.clock.now().toISOString();
    this.deps.report({ time, level, message, connection: this.plan.connection, event });
  }
}
