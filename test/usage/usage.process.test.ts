/**
 * A question that three agents answer, in real processes and on both stores: the usage of the turn, and the ledger of the
 * swarm, equal the tokens that the server of the models counted.
 */
import {
  afterAll,
  beforeAll,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from '../../packages/postgres/src/testing/with-postgres.ts';
import type { Swarm, TurnEnd } from '@goondan/runtime';
import type { TokenUsage } from '@goondan/types';
import { openPostgresReader } from '../../packages/postgres/src/store/open-reader.ts';
import { makeTestDatabase, type TestDatabase } from '../../packages/postgres/src/testing/test-database.ts';
import { NO_USAGE, sumUsage, usageSince } from '../../packages/runtime/src/ports/token-usage.ts';
import { temporaryBundle } from '../../packages/runtime/src/testing/temporary-bundle.ts';
import { type Cluster, startCluster } from '../cluster/start-cluster.ts';
import { sampledCases } from '../samples.ts';
import { countedBundle, models, SWARM } from './bundle.ts';
import { type CountingServer, startCountingServer } from './counting-server.ts';

setDefaultTimeout(90_000);

let database: TestDatabase;
beforeAll(async () => void (database = await makeTestDatabase({ hasTables: false })));
afterAll(() => database.drop());

const stores = [
  ['two nodes with PostgreSQL', () => database.address],
  ['files', undefined],
] as const;

describe.each([...sampledCases(stores, 2, 1)])('a question that three agents answer, on %s', (_, address) => {
  test('Y-03 its usage and the ledger equal what the server counted, also with kills of callee and caller', async () => {
    await using server = startCountingServer();
    using bundle = temporaryBundle({ 'goondan.yaml': countedBundle(server.url) });
    const store = address?.();
    const cluster = await startCluster({
      bundleFolder: bundle.folder,
      swarm: SWARM,
      ...(store === undefined
        ? {}
        : { store, nodes: 2, leaseSeconds: 10, openReader: (swarm) => openPostgresReader({ address: store, swarm }) }),
    });
    try {
      await askUndisturbed(cluster, server);
      await askWithKills(cluster, server);
      await checkLedger(cluster, server);
      await Promise.all(cluster.nodes.map((node) => node.stop()));
      await checkLedger(cluster, server);
    } finally {
      await cluster[Symbol.asyncDispose]();
    }
  });
});

async function askUndisturbed(cluster: Cluster, server: CountingServer): Promise<void> {
  // Another node, if there is one, owns the conversation of `b` from now on.
  await cluster.at(1).ask({ agent: 'b', instanceKey: 'calm', input: 'Hello.' });
  await expectCounted(server, () => cluster.at(0).ask({ agent: 'a', instanceKey: 'calm', input: 'Go.' }));
}

/** Kills `b` before it has a reply, and `a` while it waits for `b` and `c`. */
async function askWithKills(cluster: Cluster, server: CountingServer): Promise<void> {
  const swarm = cluster.at(0);
  const left = new Set(['b', 'a']);
  server.beforeReply = async (model, gone) => {
    if (model === models.b && left.delete('b')) {
      await kill(swarm, 'b');
      await gone;
    }
    if (model === models.c && left.delete('a')) await kill(swarm, 'a');
  };
  const id = 'the-question';
  const end = await expectCounted(server, () => swarm.ask({ agent: 'a', instanceKey: 'rough', input: 'Go.', id }));
  expect(left.size).toBe(0);
  // The question is not asked again: its answer has the same usage.
  const again = await swarm.ask({ agent: 'a', instanceKey: 'rough', input: 'Go.', id });
  expect([again.usage, again.called]).toEqual([end.usage, end.called]);
}

async function kill(swarm: Swarm, agent: string): Promise<void> {
  const { instances } = await swarm.status();
  const pid = instances.find((each) => each.agent === agent && each.instanceKey === 'rough')?.pid;
  if (pid === undefined) throw new Error(`Agent ${agent} has no process.`);
  process.kill(pid, 'SIGKILL');
}

/** Compares the usage of a turn with the tokens that the server counted meanwhile. */
async function expectCounted(server: CountingServer, ask: () => Promise<TurnEnd>): Promise<TurnEnd> {
  const before = new Map(server.counted);
  const end = await ask();
  const counted = (model: string) =>
    usageSince(before.get(model)?.usage ?? NO_USAGE, server.counted.get(model)?.usage ?? NO_USAGE);
  const called = sumUsage(counted(models.b), counted(models.c));
  expect(end.result.finishReason).toBe('text_response');
  expect(filled(end.called)).toEqual(filled(called));
  expect(filled(end.usage)).toEqual(filled(sumUsage(counted(models.a), called)));
  return end;
}

async function checkLedger(cluster: Cluster, server: CountingServer): Promise<void> {
  const reader = cluster.openReader();
  try {
    const { spendings, problems } = await reader.usage.read();
    expect(problems).toEqual([]);
    for (const [agent, model] of Object.entries(models)) {
      const own = spendings.filter(({ agentName }) => agentName === agent);
      const usage = own.reduce((sum, each) => sumUsage(sum, each.usage), NO_USAGE);
      const calls = own.reduce((sum, each) => sum + each.calls, 0);
      expect(new Set(own.map((each) => `${each.provider}/${each.model}`))).toEqual(new Set([`anthropic/${model}`]));
      expect({ calls, usage: filled(usage) }).toEqual({
        calls: server.counted.get(model)?.calls ?? 0,
        usage: filled(server.counted.get(model)?.usage),
      });
    }
  } finally {
    await reader.close();
  }
}

/** A count that is absent is 0 here: the server always counts the cache. */
function filled(usage: TokenUsage = NO_USAGE): TokenUsage {
  return { cachedInputTokens: 0, cacheWriteTokens: 0, ...usage };
}
