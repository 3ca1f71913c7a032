/** Starts a server for tests, with a database that has the tables, of which tests make copies. */
import { type Database, openDatabase } from '../driver/database.ts';
import { type Server, startServer } from '../embedded/start-server.ts';
import { makeTables } from '../schema/make-tables.ts';

export const TEMPLATE = 'gdn_template';

/** The server ends with this process, and its folder is removed. */
export async function startTestServer(folder: string, major: number | undefined): Promise<Server> {
  // A killed server leaves its shared memory. With `mmap` it is in the folder, which is removed.
  const memory = { dynamic_shared_memory_type: 'mmap' };
  const settings = { fsync: 'off', full_page_writes: 'off', max_connections: '500', autovacuum: 'off', ...memory };
  const server = await startServer({ folder, major, settings, isTemporary: true });
  await withDatabase(server.addressOf('postgres'), (database) => database.query(`create database ${TEMPLATE}`));
  await withDatabase(server.addressOf(TEMPLATE), makeTables);
  return server;
}

export async function withDatabase<Result>(
  address: string,
  use: (database: Database) => Promise<Result>,
): Promise<Result> {
  const database = openDatabase(address, { connections: 1, statementMs: MAKING_MS, connectMs: MAKING_MS });
  try {
    return await use(database);
  } finally {
    await database.close();
  }
}

/** Many test processes make databases at the same time, so connections take long, too. */
const MAKING_MS = 60_000;
