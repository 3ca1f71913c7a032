/** The rows of one swarm: where the files of this room read and write. */
import type { Database } from '../driver/database.ts';

export interface SwarmRows {
  readonly database: Pick<Database, 'query'>;
  readonly swarm: string;
  /** The channel for hints to other nodes; absent when the database has no NOTIFY. */
  readonly channel?: string;
}
