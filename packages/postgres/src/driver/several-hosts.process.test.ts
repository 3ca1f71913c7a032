import { afterAll, beforeAll, expect, test, testMajor } from '../testing/with-postgres.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Server, startServer } from '../embedded/start-server.ts';
import { codeOf } from '../testing/code-of.ts';
import { serverFolders } from '../testing/server-folders.ts';
import { makeTestDatabase, type TestDatabase } from '../testing/test-database.ts';
import { openDatabase } from './database.ts';
import { repeating } from './repeat.ts';
import { until } from '../../../../test/until.ts';

let folder: string;
let made: TestDatabase;
/** The name of the database, on both servers. */
let name: string;
let standby: { readonly port: number };
let primary: Server;
beforeAll(async () => {
  folder = mkdtempSync(join(serverFolders(), 'gdn-pg-'));
  made = await makeTestDatabase({ hasTables: false });
  const { port, pathname } = new URL(made.address);
  name = pathname.slice(1);
  standby = { port: Number(port) };
  // A database that takes no writes answers as a standby does: with 25006.
  await run(made.address, `alter database ${name} set default_transaction_read_only = on`);
  const settings = { fsync: 'off', max_connections: '20' };
  primary = await startServer({ folder, major: testMajor, settings });
  await run(primary.addressOf('postgres'), `create database ${name}`);
});

async function run(address: string, statement: string): Promise<void> {
  const database = openDatabase(address, { connections: 1 });
  await database.query(statement);
  await database.close();
}

const hosts = (...servers: readonly { readonly port: number }[]) =>
  `postgres://postgres@${servers.map(({ port }) => `127.0.0.1:${port}`).join(',')}/${name}`;

afterAll(async () => {
  await Promise.all([made.drop(), primary.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

const PORT = `select current_setting('port')::int as port`;

test('a standby is passed over, also for reads, and so is a host that is not there', async () => {
  const database = openDatabase(hosts({ port: 1 }, standby, primary), { connections: 2 });
  expect([...(await database.query(PORT))]).toEqual([{ port: primary.port }]);
  expect(await codeOf(database.query('create table written (number int)'))).toBeUndefined();
  await database.close();
});

test('without a host that takes writes, the store is away', async () => {
  const database = openDatabase(hosts(standby, { port: 1 }), { connections: 1 });
  expect(await codeOf(database.query('select 1'))).toBe('E_STORE_AWAY');
  await database.close();
  const single = openDatabase(hosts(standby), { connections: 1 });
  expect(await codeOf(single.query('create table refused (number int)'))).toBe('E_STORE_AWAY');
  await single.close();
});

test('S-10 after a failover the statement goes to the new primary, and so does the listener', async () => {
  const database = openDatabase(hosts(primary, standby), { connections: 2, connectMs: 500 });
  const heard: string[] = [];
  const listening = await database.listen('channel', (payload) => void heard.push(payload));
  expect([...(await database.query(PORT))]).toEqual([{ port: primary.port }]);
  const promoted = openDatabase(hosts(standby), { connections: 1 });
  await promoted.query('set default_transaction_read_only = off');
  await promoted.query(`alter database ${name} set default_transaction_read_only = off`);
  await primary.stop();
  const query = repeating(database, () => true);
  await query('create table after_failover (number int)');
  expect([...(await query(PORT))]).toEqual([{ port: standby.port }]);
  await until(async () => {
    await promoted.query(`select pg_notify('channel', 'heard')`);
    return heard.includes('heard');
  });
  await listening.end();
  await promoted.close();
  await database.close();
});
