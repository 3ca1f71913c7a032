/**
 * The right to run a connection. It is claimed like an instance: one node has it while it lives, and each claim has a
 * higher epoch, which every write carries in the same statement.
 */
import type { ConnectionLease, ConnectionLeases } from '@goondan/runtime/history';
import { GoondanError } from '@goondan/types';
import { claimConnection } from './claim-rows.ts';
import type { NodePlacement } from './placement.ts';
import type { SwarmRows } from './swarm-rows.ts';
import { TaskOfKey } from './task-of-key.ts';

/** The most bytes of a connection's folder. */
export const MOST_FOLDER_BYTES = 16 * 1024 * 1024;

export class PostgresConnections implements ConnectionLeases {
  readonly #leases = new Map<string, ConnectionLease>();
  readonly #tasks = new TaskOfKey();

  constructor(
    private readonly rows: SwarmRows,
    private readonly placement: NodePlacement,
  ) {}

  /** An own lease is returned from memory. A node that claims no instances claims no connections either. */
  claim(connection: string): Promise<ConnectionLease | undefined> {
    return this.#tasks.run(connection, async () => {
      this.placement.assertPlace();
      const own = this.#leases.get(connection);
      if (own !== undefined || this.placement.isGivingUp) return own;
      const { epoch, isLiving } = await claimConnection(this.rows, this.placement.id, connection);
      if (!isLiving) throw this.placement.ended();
      if (epoch === undefined) return undefined;
      const lease = this.#leaseOf(connection, epoch);
      this.#leases.set(connection, lease);
      return lease;
    });
  }

  #leaseOf(connection: string, epoch: number): ConnectionLease {
    const { database, swarm } = this.rows;
    const fence = [swarm, connection, this.placement.id, epoch] as const;
    const refuse = (): GoondanError => {
      if (this.#leases.get(connection) === lease) this.#leases.delete(connection);
      return new GoondanError(
        'E_FENCED',
        `Node "${this.placement.node}" does not run the connection "${connection}" any more.`,
      );
    };
    const lease: ConnectionLease = {
      epoch,
      async readFolder() {
        const [row] = await database.query<{ readonly folder: Uint8Array | null }>(
          `select folder from gdn_connection where ${IS_OWN}`,
          fence,
        );
        if (row === undefined) throw refuse();
        return row.folder ?? undefined;
      },
      async writeFolder(files) {
        refuseLarge(connection, files);
        const written = await database.query(`update gdn_connection set folder = $5 where ${IS_OWN} returning 1`, [
          ...fence,
          files,
        ]);
        if (written.length === 0) throw refuse();
      },
      release: () =>
        this.#tasks.run(connection, async () => {
          if (this.#leases.get(connection) === lease) this.#leases.delete(connection);
          await database.query(`update gdn_connection set owner = null where ${IS_OWN}`, fence);
        }),
    };
    return lease;
  }
}

const IS_OWN = 'swarm = $1 and connection = $2 and owner = $3 and epoch = $4';

function refuseLarge(connection: string, { byteLength }: Uint8Array): void {
  if (byteLength <= MOST_FOLDER_BYTES) return;
  throw new GoondanError(
    'E_STORE_WRITE',
    `The folder of the connection "${connection}" has ${byteLength} bytes; at most ${MOST_FOLDER_BYTES} are kept.`,
    { suggestion: 'Delete files of the folder that the connection does not need after a restart.' },
  );
}
