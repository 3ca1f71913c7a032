/**
 * A PostgreSQL server for tests. One server runs for each test process; each caller gets a database of its own. The
 * server ends with the process.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Database, openDatabase } from '../driver/database.ts';
import { type Server, startServer } from '../embedded/start-server.ts';
import { migrate } from '../schema/migrate.ts';
import { startPooler } from './start-pooler.ts';
import { hasPostgres, testMajor } from './with-postgres.ts';

export interface TestDatabase {
  /** The address of an empty database. With `migrated`, it has the tables. */
  readonly address: string;
  drop(): Promise<void>;
}

interface TestServer {
  /** Returns the address of a database, through PgBouncer if `GOONDAN_TEST_POOLER` is set. */
  readonly addressOf: Server['addressOf'];
  /** Makes databases, one at a time: the server refuses to copy a template that is in use. */
  readonly make: (statement: string) => Promise<unknown>;
}

const TEMPLATE = 'gdn_template';
let server: Promise<TestServer> | undefined;
let databases = 0;

/**
 * Makes a database, as a copy of one that has the tables. The first call starts the server. Where no server can run, the
 * address leads nowhere: the tests that would use it are skipped.
 */
export async function makeTestDatabase({ migrated = true } = {}): Promise<TestDatabase> {
  if (!hasPostgres) return { address: 'postgres://127.0.0.1:1/none', drop: async () => undefined };
  server ??= startOwn();
  const { addressOf, make } = await server;
  const name = `test_${process.pid}_${++databases}`;
  await make(`create database ${name}${migrated ? ` template ${TEMPLATE} strategy file_copy` : ''}`);
  return {
    address: addressOf(name),
    async drop() {
      await make(`drop database if exists ${name} with (force)`);
    },
  };
}

async function startOwn(): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), 'gdn-pg-'));
  const settings = { fsync: 'off', full_page_writes: 'off', max_connections: '300' };
  const own = await startServer({ folder, major: testMajor, settings, isTemporary: true });
  const pooled = process.env['GOONDAN_TEST_POOLER'] === undefined ? undefined : await startPooler(own.port, folder);
  const addressOf = (name: string) => own.addressOf(name);
  let last: Promise<unknown> = Promise.resolve();
  const make = (statement: string) => {
    const done = last.then(() => withDatabase(addressOf('postgres'), (database) => database.query(statement)));
    last = done.catch(() => undefined);
    return done;
  };
  await make(`create database ${TEMPLATE}`);
  await withDatabase(addressOf(TEMPLATE), migrate);
  if (pooled === undefined) return { addressOf, make };
  return { addressOf: (name) => `postgres://postgres@127.0.0.1:${pooled.port}/${name}?prepare=false`, make };
}

async function withDatabase<Result>(address: string, use: (database: Database) => Promise<Result>): Promise<Result> {
  const database = openDatabase(address, { connections: 1, statementMs: MAKING_MS });
  try {
    return await use(database);
  } finally {
    await database.close();
  }
}

/** Many test processes start their servers at the same time. */
const MAKING_MS = 60_000;
