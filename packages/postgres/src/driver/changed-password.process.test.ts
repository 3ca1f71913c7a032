// Changes the password of the database while three nodes run, as an operator does.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClusterStore } from '@goondan/runtime/history';
import { fakeEvent } from '../../../runtime/src/testing/fake-swarm.ts';
import { until } from '../../../../test/until.ts';
import { postgresSource } from '../cluster-source.ts';
import { startServer } from '../embedded/start-server.ts';
import { makeTables } from '../schema/make-tables.ts';
import { serverFolders } from '../testing/server-folders.ts';
import { expect, test } from '../testing/with-postgres.ts';
import { openDatabase } from './database.ts';

const LEASE_MS = 20_000;

test('S-10 nodes go on after the password of the database has changed, with the one that is then in the file', async () => {
  const folder = mkdtempSync(join(serverFolders(), 'goondan-password-'));
  const server = await startServer({ folder, password: 'first', isTemporary: true });
  const file = join(folder, 'store.txt');
  const [before, after] = ['first', 'second'].map((each) =>
    server.addressOf('postgres').replace(':first@', `:${each}@`),
  );
  writeFileSync(file, before ?? '');
  const owner = openDatabase(server.addressOf('postgres'), { connections: 1 });
  await makeTables(owner);
  const problems = new Map<string, string[]>();
  const stores: ClusterStore[] = [];
  for (const name of ['one', 'two', 'three']) {
    const told: string[] = [];
    problems.set(name, told);
    const source = postgresSource({ address: () => readFileSync(file, 'utf8'), swarm: 'shop', leaseMs: LEASE_MS });
    stores.push(
      await source.join({ name, start: `start of ${name}`, version: '1' }, (problem) => void told.push(problem)),
    );
  }

  await owner.query(`alter role postgres password 'second'`);
  await owner.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname is not null',
  );
  const accepted = stores.map((store, index) =>
    store.inbox.accept({ agentName: 'coder', instanceKey: `${index}` }, fakeEvent('hello', { id: `e${index}` })),
  );
  await until(() => [...problems.values()].every((told) => told.some((each) => each.startsWith('E_STORE_ADDRESS'))));
  writeFileSync(file, after ?? '');
  expect(await Promise.all(accepted)).toMatchObject(stores.map(() => ({ accepted: true, duplicate: false })));
  for (const store of stores) store.placement.check();
  const names = await owner.query<{ name: string }>(
    `select distinct application_name as name from pg_stat_activity where application_name like 'goondan %' order by name`,
  );
  expect(names.map(({ name }) => name)).toEqual(['goondan one', 'goondan three', 'goondan two']);
  for (const told of problems.values()) expect(told.join()).not.toMatch(/first|second/);

  for (const store of stores) await store.close();
  await owner.close();
  await server.stop();
}, 60_000);
