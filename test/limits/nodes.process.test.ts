// Tests limits and budgets on three nodes that share a PostgreSQL, in processes of their own that are killed.
import { expect, setDefaultTimeout, test } from '../../packages/postgres/src/testing/with-postgres.ts';
import type { Swarm } from '../../packages/runtime/src/control/swarm.ts';
import { temporaryBundle } from '../../packages/runtime/src/testing/temporary-bundle.ts';
import { makeTestDatabase } from '../../packages/postgres/src/testing/test-database.ts';
import { startCluster } from '../cluster/start-cluster.ts';
import { sampleStep } from '../samples.ts';
import { limitedBundle } from './bundle.ts';
import { until } from './open-swarm.ts';
import { startProvider } from './provider.ts';

setDefaultTimeout(120_000);

const agents = ['a', 'b', 'c', 'd', 'e', 'f'];

test('Y-04 Y-07 limits and budgets hold on three nodes, also when a node is killed', async () => {
  const database = await makeTestDatabase();
  await using provider = startProvider({ delayMs: 40 });
  using files = temporaryBundle(
    limitedBundle({
      url: provider.url,
      agents,
      limits: { concurrent: 3 },
      extensions: [{ ref: 'Extension/budget', config: { budgets: [{ name: 'all', calls: 20 }] } }],
      isolation: 'agent',
    }),
  );
  {
    await using cluster = await startCluster({
      bundleFolder: files.folder,
      swarm: 'limited',
      store: database.address,
      nodes: 3,
      leaseSeconds: 2,
    });
    const accepted = agents.flatMap((agent, number) =>
      Array.from({ length: 5 }, (_, key) =>
        cluster.at(number + key).deliver({ agent, instanceKey: `k${key}`, input: 'Hello' }),
      ),
    );
    await Promise.all(accepted);
    await until('some calls were made', () => provider.requests.length >= 6);
    const [killed] = cluster.nodes;
    await killed?.kill();
    const living = cluster.at(1);
    await until('every turn has ended', () => isQuiet(living));
    expect(provider.requests.length).toBeLessThanOrEqual(20);
    // A node that is killed may lose the calls that it had begun: at most as many as may run at the same time. On a busy
    // machine, other nodes may lose their short lease, too, and with it their calls. So only the proof counts them.
    if (sampleStep === 1) expect(provider.requests.length).toBeGreaterThanOrEqual(20 - 3);
    // The calls of the killed node may still be open at the server when others get their places.
    expect(provider.mostOpen).toBeLessThanOrEqual(6);
  }
  await database.drop();
});

async function isQuiet(swarm: Swarm): Promise<boolean> {
  const { instances } = await swarm.status();
  return instances.every(({ queued }) => queued === 0);
}
