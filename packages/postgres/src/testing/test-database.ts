/**
 * Databases for tests: each caller gets one of its own. They are in one server for all of `npm test`, or in a server of
 * this process if something else started it. The server ends with the run or with the process.
 */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { serverFolders } from './server-folders.ts';
import { findSharedServer } from './shared-server.ts';
import { startPooler } from './start-pooler.ts';
import { startTestServer, TEMPLATE, withDatabase } from './start-test-server.ts';
import { type Database, openDatabase } from '../driver/database.ts';
import { afterAll, hasPostgres, testMajor } from './with-postgres.ts';

export interface TestDatabase {
  /** The address of an empty database. With `hasTables`, it has the tables. */
  readonly address: string;
  drop(): Promise<void>;
}

interface TestServer {
  /** Returns the address of a database, through PgBouncer if `GOONDAN_TEST_POOLER` is set. */
  readonly addressOf: (database: string) => string;
  /** Makes databases, one at a time: the server refuses to copy a template that is in use. */
  readonly make: (statement: string) => Promise<unknown>;
}

let server: Promise<TestServer> | undefined;

/**
 * Makes a database, as a copy of one that has the tables. The first call starts the server. Where no server can run, the
 * address leads nowhere: the tests that would use it are skipped.
 */
export async function makeTestDatabase({ hasTables = true } = {}): Promise<TestDatabase> {
  if (!hasPostgres) return { address: 'postgres://127.0.0.1:1/none', drop: async () => undefined };
  server ??= openServer();
  const { addressOf, make } = await server;
  const name = `test_${process.pid}_${crypto.randomUUID().replaceAll('-', '_')}`;
  await make(`create database ${name}${hasTables ? ` template ${TEMPLATE} strategy file_copy` : ''}`);
  return {
    address: addressOf(name),
    async drop() {
      await make(`drop database if exists ${name} with (force)`);
    },
  };
}

/** Opens a database for the tests of a file, and drops it after them. */
export async function openTestDatabase(): Promise<TestDatabase & { readonly database: Database }> {
  const made = await makeTestDatabase();
  const database = openDatabase(made.address);
  afterAll(async () => {
    await database.close();
    await made.drop();
  });
  return { ...made, database };
}

async function openServer(): Promise<TestServer> {
  const run = process.env['GOONDAN_TEST_RUN'];
  const port =
    run === undefined ? (await startTestServer(makeFolder(), testMajor)).port : await findSharedServer(run, testMajor);
  const pooled = process.env['GOONDAN_TEST_POOLER'] === undefined ? undefined : await startPooler(port, makeFolder());
  const direct = (name: string) => `postgres://postgres@127.0.0.1:${port}/${name}`;
  let last: Promise<unknown> = Promise.resolve();
  const make = (statement: string) => {
    const done = last.then(() => withDatabase(direct('postgres'), (database) => database.query(statement)));
    last = done.catch(() => undefined);
    return done;
  };
  if (pooled === undefined) return { addressOf: direct, make };
  return { addressOf: (name) => `postgres://postgres@127.0.0.1:${pooled.port}/${name}?prepare=false`, make };
}

function makeFolder(): string {
  return mkdtempSync(join(serverFolders(), 'gdn-pg-'));
}
