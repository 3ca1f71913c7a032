/**
 * A PostgreSQL server for tests. One server runs for each test process; each caller gets a database of its own. The
 * server ends with the process.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../driver/database.ts';
import { type Server, startServer } from '../embedded/start-server.ts';
import { migrate } from '../schema/migrate.ts';

export interface TestDatabase {
  /** The address of an empty database. With `migrated`, it has the tables. */
  readonly address: string;
  drop(): Promise<void>;
}

let server: Promise<Server> | undefined;
let databases = 0;

/** Makes a database. The first call starts the server. */
export async function makeTestDatabase({ migrated = true } = {}): Promise<TestDatabase> {
  server ??= startOwn();
  const { addressOf } = await server;
  const name = `test_${process.pid}_${++databases}`;
  const own = openDatabase(addressOf('postgres'), { connections: 1 });
  await own.query(`create database ${name}`);
  if (migrated) {
    const made = openDatabase(addressOf(name), { connections: 1 });
    await migrate(made);
    await made.close();
  }
  return {
    address: addressOf(name),
    async drop() {
      await own.query(`drop database if exists ${name} with (force)`);
      await own.close();
    },
  };
}

function startOwn(): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'gdn-pg-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return startServer({ folder, settings: { fsync: 'off', max_connections: '300' } });
}
