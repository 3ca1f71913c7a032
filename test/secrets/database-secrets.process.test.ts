// Tests the twenty secrets in a swarm on PostgreSQL: no secret is in the database, and nothing of its address is in an
// agent process.
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../packages/postgres/src/driver/database.ts';
import { openPostgresReader } from '../../packages/postgres/src/store/open-reader.ts';
import { dumpDatabase } from '../../packages/postgres/src/testing/dump-database.ts';
import { makeTestDatabase, type TestDatabase } from '../../packages/postgres/src/testing/test-database.ts';
import { afterAll, beforeAll, describe, expect, test } from '../../packages/postgres/src/testing/with-postgres.ts';
import { openaiWire } from '../../packages/runtime/src/agent/model/providers/wire/openai-wire.ts';
import { startWireServer } from '../../packages/runtime/src/agent/model/providers/wire/wire-server.ts';
import { type Cluster, startCluster } from '../cluster/start-cluster.ts';
import { withDescendants } from '../cluster/disturb.ts';
import { canaries, findCanaries } from './canaries.ts';
import { countConnections, findInMemory } from './read-memory.ts';
import { until } from '../until.ts';

// The server of the tests asks nobody for a password; a node has one all the same.
const PASSWORD = 'only-the-node-knows-this-password';
let folder: string;
const model = startWireServer(openaiWire);
let made: TestDatabase;
let store: string;
let port: number;
let cluster: Cluster;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gdn-secrets-'));
  made = await makeTestDatabase({ hasTables: false });
  const address = new URL(made.address);
  address.password = PASSWORD;
  store = address.href;
  port = Number(address.port);
  const bundleFolder = join(folder, 'bundle');
  cpSync(join(import.meta.dir, 'bundle'), bundleFolder, { recursive: true });
  const { FROM_FILE, ...declared } = canaries;
  await Bun.write(join(bundleFolder, '.env'), `FROM_FILE=${FROM_FILE}\n`);
  const env = { ...declared, FROM_FILE, MODEL_ENDPOINT: model.url };
  const openReader = (swarm: string) => openPostgresReader({ address: store, swarm });
  cluster = await startCluster({ bundleFolder, swarm: 'default', store, openReader, leaseSeconds: 10, env: () => env });
}, 120_000);
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
  await made.drop();
  rmSync(folder, { recursive: true });
}, 60_000);

const usage = { input: 1, output: 1, cached: 0 };
const call = (name: string) => ({ reply: { calls: [{ id: name, name, args: {} }], usage } });

async function dump(): Promise<string> {
  const database = openDatabase(store, { connections: 1 });
  try {
    return await dumpDatabase(database);
  } finally {
    await database.close();
  }
}

describe('a swarm on PostgreSQL, in which every part writes what it knows', () => {
  test('S-06 no secret is in the database after turns, traces, logs, errors and a deploy', async () => {
    const done = { reply: { text: ['done'], usage } };
    model.answer(call('leaky__give'), call('leaky-extension__tell'), call('leaky__fail'), done);
    const input = `My key is ${canaries.TOOL_KEY}, and ${canaries.AWKWARD}`;
    const end = await cluster.at(0).ask({ agent: 'host', instanceKey: 'default', input });
    expect(JSON.stringify(end)).toContain('done');
    // The lines of the log, the traces and the conversations that the connector began come a little later.
    const wanted = ['printed by the tool', 'printed by the connector', 'failed with', '"type":"chain"', 'heard', '***'];
    const text = await until(
      async () => {
        const dumped = await dump();
        return wanted.every((each) => dumped.includes(each)) && dumped;
      },
      { about: `the database has ${wanted.join(', ')}` },
    );
    expect(findCanaries(text)).toEqual([]);
    // The bundle is deployed, without the file of its secrets. The search would find one.
    expect(text).toContain('gdn_bundle');
    const database = openDatabase(store, { connections: 1 });
    await database.query('create table planted as select $1::text as secret', [canaries.CONNECTION_SECRET]);
    expect(findCanaries(await dump())).toEqual(['CONNECTION_SECRET']);
    await database.query('drop table planted');
    await database.close();
  }, 120_000);

  test('S-06 nothing of the address of the database is in an agent process', () => {
    const node = cluster.nodes[0]?.pid ?? 0;
    const read = (pid: number, file: string) => readFileSync(`/proc/${pid}/${file}`, 'utf8');
    const children = withDescendants(node).filter((pid) => pid !== node);
    const agents = children.filter((pid) => /(?:^|\0)AGENT_VARIABLE=/.test(read(pid, 'environ')));
    expect(agents.length).toBeGreaterThan(0);
    const address = `127.0.0.1:${port}`;
    for (const pid of children) {
      for (const file of ['environ', 'cmdline']) {
        for (const secret of [PASSWORD, address, 'GOONDAN_STORE']) expect(read(pid, file)).not.toContain(secret);
      }
      expect(countConnections(pid, port)).toBe(0);
      expect(findInMemory(pid, [PASSWORD, address])).toEqual([]);
    }
    // The search finds both in the node, and a secret of the agent in its process.
    expect(countConnections(node, port)).toBeGreaterThan(0);
    expect(findInMemory(node, [PASSWORD, address]).toSorted()).toEqual([PASSWORD, address].toSorted());
    for (const pid of agents) expect(findInMemory(pid, [canaries.AGENT_VARIABLE])).not.toBeEmpty();
  }, 120_000);
});
