import { afterAll, expect, setDefaultTimeout, test, testInProof } from './with-postgres.ts';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { serverFolders } from './server-folders.ts';
import { findSharedServer } from './shared-server.ts';
import { TEMPLATE, withDatabase } from './start-test-server.ts';
import { until } from '../../../../test/until.ts';

// This timeout is long, because a server starts on a machine that may be busy.
setDefaultTimeout(180_000);

const run = Bun.spawn(['sleep', '600']);
const name = `${run.pid}-${crypto.randomUUID().slice(0, 8)}`;

afterAll(() => run.kill('SIGKILL'));

test('a version that is not installed is named, to every caller, by a process that does not end with its shell', async () => {
  for (const caller of ['first', 'second']) {
    const found = await findSharedServer(name, 7).catch(String);
    expect(found, caller).toContain('The server of the test run does not start');
  }
  const { stdout } = Bun.spawnSync(['pgrep', '-f', `run-shared-server.ts .*${name}-7`]);
  const variables = readFileSync(`/proc/${stdout.toString().trim()}/environ`, 'utf8').split('\0');
  expect(variables.filter((entry) => entry.includes('NO_ORPHANS'))).toEqual([]);
});

// All tests with PostgreSQL of `npm test` share a server.
testInProof('test processes of a run share one server, which ends when the run is killed', async () => {
  const ports = await Promise.all([1, 2, 3].map(() => findSharedServer(name, undefined)));
  expect(new Set(ports).size).toBe(1);
  const address = `postgres://postgres@127.0.0.1:${ports[0]}/${TEMPLATE}`;
  const rows = await withDatabase(address, (database) => database.query('select count(*) as count from gdn_swarm'));
  expect(rows).toMatchObject([{ count: 0 }]);
  const pid = readFileSync(join(serverFolders(), `gdn-pg-${name}-any`, 'data', 'postmaster.pid'), 'utf8').split(
    '\n',
  )[0];
  const left = () => readdirSync(serverFolders()).filter((folder) => folder.includes(name));
  expect(left()).toHaveLength(2);
  run.kill('SIGKILL');
  await until(() => left().length === 0);
  expect([existsSync(`/proc/${pid}`), left()]).toEqual([false, []]);
});
