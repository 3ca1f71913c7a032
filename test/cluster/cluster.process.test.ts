/**
 * Two scenarios and one kill, on real nodes. The nodes that are disturbed have a lease of one second. `npm run proof` has
 * five scenarios and a restart of the database, and `npm run proof -- cluster` ten scenarios, three nodes and hundreds of
 * failures.
 */
import {
  afterAll,
  beforeAll,
  describe,
  expect,
  setDefaultTimeout,
  test,
  testInProof,
} from '../../packages/postgres/src/testing/with-postgres.ts';
import { join } from 'node:path';
import { makeTestDatabase } from '../../packages/postgres/src/testing/test-database.ts';
import { openPostgresReader } from '../../packages/postgres/src/store/open-reader.ts';
import { runDisturbed, type Undisturbed, workUndisturbed } from './disturb.ts';
import { type OwnDatabase, startOwnDatabase } from './own-database.ts';
import { compareOutcomes, type Outcome, readOutcome } from './read-outcome.ts';
import { type Scenario, scenarios } from './scenarios.ts';
import { type Cluster, startCluster } from './start-cluster.ts';
import { sampleStep } from '../samples.ts';

const TEST_MS = 120_000;
setDefaultTimeout(TEST_MS);

const bundleFolder = join(import.meta.dir, 'bundle');
/** The lease of a node that must not lose its place, on a busy machine either. */
const UNDISTURBED_SECONDS = 10;

let database: OwnDatabase | (AsyncDisposable & { readonly address: string });
/** One node on files, whose results the others are compared with. */
let onFiles: Cluster;
beforeAll(async () => {
  [database, onFiles] = await Promise.all([startDatabase(), startCluster({ bundleFolder })]);
}, TEST_MS);
afterAll(async () => {
  await onFiles[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/** Starts a server that a test can kill, and in `npm test`, where none does so, only makes a database. */
async function startDatabase(): Promise<typeof database> {
  if (sampleStep === 1) return startOwnDatabase();
  const made = await makeTestDatabase({ hasTables: false });
  return { address: made.address, [Symbol.asyncDispose]: () => made.drop() };
}

function startNodes(nodes: number, leaseSeconds: number): Promise<Cluster> {
  const store = database.address;
  return startCluster({
    bundleFolder,
    store,
    openReader: (swarm) => openPostgresReader({ address: store, swarm }),
    nodes,
    leaseSeconds,
  });
}

describe('a swarm on PostgreSQL', () => {
  test('S-01 the scenarios have the transcripts, histories and traces of a swarm on files', async () => {
    // The disturbed rounds below have single steps and requests, too.
    // The store of approvals and of forks has its own tests.
    const names = ['effects', 'request', ...(sampleStep === 1 ? ['approval', 'forks', 'one-step'] : [])];
    const chosen = scenarios.filter(({ name }) => names.includes(name));
    const files = await runAll(onFiles, chosen);
    await using node = await startNodes(1, UNDISTURBED_SECONDS);
    const store = await runAll(node, chosen);
    expect(store.answers).toEqual(files.answers);
    expect(compareOutcomes(files.outcome, store.outcome)).toEqual([]);
    expect(Object.keys(files.outcome.conversations)).toHaveLength(sampleStep === 1 ? 8 : 4);
    expect(files.outcome.traces.length).toBeGreaterThan(sampleStep === 1 ? 8 : 2);
  });
});

describe('a disturbed swarm', () => {
  let undisturbed: Undisturbed;
  let cluster: Cluster;
  beforeAll(async () => {
    undisturbed = await workUndisturbed(onFiles);
    cluster = await startNodes(2, 1);
  }, TEST_MS);
  afterAll(async () => {
    await cluster[Symbol.asyncDispose]();
  });

  test('S-03 S-04 after a kill of a node, the other one answers every event once, and no effect happens twice', async () => {
    const [, victim] = cluster.nodes;
    if (victim === undefined) throw new Error('There is no second node.');
    const { problems, result } = await runDisturbed(cluster, 'kill', undisturbed, {
      afterEvents: 12,
      disturb: () => victim.kill(),
    });
    await cluster.restart(victim);
    expect(problems).toEqual([]);
    expect(result.answers.size).toBe(8);
  });

  testInProof('S-03 S-10 a database that was killed is waited for, and nothing becomes a dead letter', async () => {
    const { problems, result } = await runDisturbed(cluster, 'database', undisturbed, {
      afterEvents: 8,
      async disturb() {
        if (!('kill' in database)) throw new Error('The server of all tests cannot be killed.');
        await database.kill();
        await database.start();
      },
    });
    expect(problems).toEqual([]);
    expect(result.answers.size).toBe(8);
  });
});

async function runAll(cluster: Cluster, chosen: readonly Scenario[]): Promise<{ answers: unknown; outcome: Outcome }> {
  const answers: unknown[] = [];
  for (const scenario of chosen) answers.push([scenario.name, await scenario.run(cluster)]);
  const reader = cluster.openReader();
  const outcome = await readOutcome(reader);
  await reader.close();
  return { answers, outcome };
}
