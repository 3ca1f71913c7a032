/** Real nodes, on files and on PostgreSQL, that are killed while people speak into running turns. */
import {
  afterAll,
  expect,
  setDefaultTimeout,
  test,
  testInProof,
} from '../../packages/postgres/src/testing/with-postgres.ts';
import { join } from 'node:path';
import { openPostgresReader } from '../../packages/postgres/src/store/open-reader.ts';
import { makeTestDatabase } from '../../packages/postgres/src/testing/test-database.ts';
import { seededRandom } from '../../packages/runtime/src/workspace/simulation/seeded-random.ts';
import { startCluster } from '../cluster/start-cluster.ts';
import { samples } from '../samples.ts';
import { seed } from '../seed.ts';
import { steerTurns } from './steer-turns.ts';

setDefaultTimeout(300_000);

const bundleFolder = join(import.meta.dir, 'bundle');
const cleanups: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

/** 200 inputs in `npm run proof`, and 16 in `npm test`. */
const amounts = {
  inputs: samples(200, 13),
  agentKills: samples(60, 30),
  nodeKills: samples(12, 12),
  random: seededRandom(seed),
};

test('Y-08 inputs into running turns are there once, answered, never inside a tool-call pair, over kills on files', async () => {
  await using cluster = await startCluster({ bundleFolder, swarm: 'steering' });
  const report = await steerTurns(cluster, amounts);
  if (process.env['GOONDAN_SAMPLES'] === 'all') console.log('files', JSON.stringify(report));
  expect(report.problems).toEqual([]);
  expect(report.taken).toBeGreaterThan(0);
  expect(report.kills).toEqual({ agents: amounts.agentKills, nodes: amounts.nodeKills });
});

// In `npm test`, packages/postgres/src/simulation/simulation.test.ts has the same rule with faults at any statement.
testInProof('Y-08 S-03 the same over kills of nodes on PostgreSQL, with inputs at any node', async () => {
  const database = await makeTestDatabase();
  const store = database.address;
  cleanups.push(() => database.drop());
  const openReader = (swarm: string) => openPostgresReader({ address: store, swarm });
  await using cluster = await startCluster({ bundleFolder, swarm: 'steering', store, openReader, nodes: 2 });
  const report = await steerTurns(cluster, amounts);
  if (process.env['GOONDAN_SAMPLES'] === 'all') console.log('postgres', JSON.stringify(report));
  expect(report.problems).toEqual([]);
  expect(report.taken).toBeGreaterThan(0);
  expect(report.kills).toEqual({ agents: amounts.agentKills, nodes: amounts.nodeKills });
});
