// An input whose turn kills its node, under a supervisor that starts nodes again.
import { join } from 'node:path';

import { type Database, openDatabase } from '../../packages/postgres/src/driver/database.ts';
import { openPostgresReader } from '../../packages/postgres/src/store/open-reader.ts';
import { makeTestDatabase, type TestDatabase } from '../../packages/postgres/src/testing/test-database.ts';
import { afterAll, beforeAll, expect, test } from '../../packages/postgres/src/testing/with-postgres.ts';
import { until } from '../until.ts';
import { startOwnDatabase } from './own-database.ts';
import { startCluster } from './start-cluster.ts';

const bundleFolder = join(import.meta.dir, 'bundle');
const deadly = { agentName: 'worker', instanceKey: 'deadly' };
const LIVES = 5;
let made: TestDatabase;
beforeAll(async () => {
  made = await makeTestDatabase();
});
afterAll(() => made.drop());

/** Returns the living node at which the turn has begun, if it is another one than before. */
async function findOwner(rows: Database, before: string | undefined) {
  const [row] = await rows.query<{ id: string; name: string; lost: string }>(
    `select n.id, n.name, array_to_string(b.lost_nodes, ',') as lost
from gdn_instance i join gdn_node n on n.swarm = i.swarm and n.id = i.owner
join gdn_inbox b on b.swarm = i.swarm and b.agent = i.agent and b.key = i.key
where i.key = 'deadly' and b.pending and b.began and n.lease_until > clock_timestamp()`,
  );
  return row?.id === before ? undefined : row;
}

const deliverDeadly = { agent: 'worker', instanceKey: 'deadly', id: 'deadly', input: 'wait' };

test('R-03 an input that has killed five nodes becomes a dead letter, and others are answered meanwhile', async () => {
  // A node that starts again ends its earlier lease at once, so a long one delays nothing.
  await using cluster = await startCluster({ bundleFolder, store: made.address, nodes: 2, leaseSeconds: 30 });
  const rows = openDatabase(made.address, { connections: 1 });
  const reader = openPostgresReader({ address: made.address, swarm: 'scenarios' });
  const letters = () => reader.deadLetters.list(deadly);

  await cluster.at(0).deliver(deliverDeadly);
  let last: string | undefined;
  for (let life = 1; life <= LIVES; life += 1) {
    expect(await letters()).toEqual([]);
    const owner = await until(() => findOwner(rows, last), { within: 30_000 });
    last = owner.id;
    const node = cluster.nodes.find(({ name }) => name === owner.name);
    await node?.kill();
    if (node !== undefined) await cluster.restart(node);
    const { result } = await cluster.at(life).ask({ agent: 'echo', instanceKey: `other ${life}`, input: 'Hello' });
    expect(result.finishReason).toBe('text_response');
  }
  await until(async () => (await letters()).length === 1, { within: 30_000 });
  const reason = 'This event ended its node 5 times and became a dead letter.';
  expect(await letters()).toMatchObject([{ event: { id: 'deadly' }, reason }]);
  await reader.close();
  await rows.close();
}, 120_000);

test('S-10 a database that is away for longer than the lease counts for nothing', async () => {
  await using own = await startOwnDatabase();
  await using cluster = await startCluster({ bundleFolder, store: own.address, nodes: 2, leaseSeconds: 8 });
  const rows = openDatabase(own.address, { connections: 1 });
  await cluster.at(0).deliver(deliverDeadly);
  const before = await until(() => findOwner(rows, undefined));
  await own.kill();
  await until(() => cluster.nodes.every(({ output }) => output().includes('node.lost')));
  await own.start();
  await until(() => findOwner(rows, before.id));
  // Nodes join again one after the other, and the last one takes its end back.
  await until(() => cluster.nodes.every(({ output }) => output().split('swarm.started').length === 3));
  expect(await findOwner(rows, undefined)).toMatchObject({ lost: '' });
  await rows.close();
}, 120_000);
