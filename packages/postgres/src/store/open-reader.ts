/** Readers of a swarm in PostgreSQL, for commands and Studio. They take no lock, and need no node that runs. */
import type { StoreReader, SwarmList } from '@goondan/runtime/history';
import { lettersOf } from '@goondan/runtime/internal';
import { type Database, openDatabase } from '../driver/database.ts';
import { postgresBlobs } from './blobs.ts';
import { openDirectory, openSwarms } from './directory.ts';
import { openHistoryReader, readStored } from './history-reader.ts';
import { openLogReader } from './log-reader.ts';
import { readPending } from './read-pending.ts';
import { openTraceReader } from './trace-reader.ts';
import { openUsageReader } from './usage-reader.ts';

/** A reader sends few statements at a time. */
const CONNECTIONS = 4;

/** Opens the readers of a swarm. Nothing is connected before the first question. **Errors** — `E_STORE_ADDRESS`. */
export function openPostgresReader({
  address,
  swarm,
}: {
  readonly address: Parameters<typeof openDatabase>[0];
  readonly swarm: string;
}): StoreReader {
  const database = openDatabase(address, { connections: CONNECTIONS });
  return { ...readersOf(database, swarm), close: () => database.close() };
}

/** Opens the list of the swarms in a database. Close it after use. **Errors** — `E_STORE_ADDRESS`. */
export function openPostgresSwarms({
  address,
}: {
  readonly address: Parameters<typeof openDatabase>[0];
}): SwarmList & { close(): Promise<void> } {
  return openSwarms(openDatabase(address, { connections: 1 }));
}

/** Returns the readers over a database that is open, for example that of a node. */
export function readersOf(database: Database, swarm: string): Omit<StoreReader, 'close'> {
  const history = openHistoryReader(database, swarm);
  return {
    inbox: { pendingEntries: (instance) => readPending(database, swarm, instance) },
    deadLetters: {
      list: async (instance) => lettersOf(instance, await readStored(database, swarm, instance)),
    },
    blobs: postgresBlobs({ query: (...asked) => database.query(...asked), swarm }),
    history,
    traces: openTraceReader(database, swarm, history),
    logs: openLogReader(database, swarm),
    directory: openDirectory(database, swarm),
    usage: openUsageReader(database, swarm),
  };
}
