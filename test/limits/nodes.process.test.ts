// Tests limits and budgets on nodes that share a PostgreSQL, in processes of their own that are killed.
import { expect, setDefaultTimeout, testInProof } from '../../packages/postgres/src/testing/with-postgres.ts';
import { openPostgresReader } from '../../packages/postgres/src/store/open-reader.ts';
import type { SwarmNotice } from '../../packages/runtime/src/control/swarm.ts';
import { renderTrace } from '../../packages/runtime/src/trace/render-trace.ts';
import { temporaryBundle } from '../../packages/runtime/src/testing/temporary-bundle.ts';
import { makeTestDatabase } from '../../packages/postgres/src/testing/test-database.ts';
import { startCluster } from '../cluster/start-cluster.ts';
import { limitedBundle } from './bundle.ts';
import { startProvider } from './provider.ts';
import { until } from '../until.ts';

setDefaultTimeout(120_000);

const nodes = 3;
const agents = ['a', 'b', 'c', 'd', 'e', 'f'];
const calls = 20;

testInProof(`Y-04 Y-07 limits and budgets hold on ${nodes} nodes, also when a node is killed`, async () => {
  const database = await makeTestDatabase();
  await using provider = startProvider({ delayMs: 40 });
  using files = temporaryBundle(
    limitedBundle({
      url: provider.url,
      agents,
      limits: { concurrent: 3 },
      extensions: [{ ref: 'Extension/budget', config: { budgets: [{ name: 'all', calls }] } }],
      isolation: 'agent',
    }),
  );
  {
    await using cluster = await startCluster({
      bundleFolder: files.folder,
      swarm: 'limited',
      store: database.address,
      nodes,
      leaseSeconds: 4,
    });
    const inputs = agents.flatMap((agent) =>
      Array.from({ length: 5 }, (_, key) => ({ agent, instanceKey: `k${key}`, input: 'Hello', id: `${agent}${key}` })),
    );
    await Promise.all(inputs.map((input, index) => cluster.at(index).deliver(input)));
    await until(() => provider.requests.length >= agents.length, { about: 'some calls were made' });
    const [killed] = cluster.nodes;
    await killed?.kill();
    // Waits for the turns that other nodes take over, too: until then, no node lists them.
    const living = cluster.at(1);
    const ends = await Promise.all(inputs.map((input) => living.ask(input)));
    const codes = ends.map(({ result }) => result.error?.code ?? 'answered');
    expect(new Set(codes)).toEqual(new Set(['answered', 'E_BUDGET_EXCEEDED']));
    expect(provider.requests.length).toBeLessThanOrEqual(calls);
    // The killed node may lose the calls that it had begun: at most as many as may run at the same time.
    expect(provider.requests.length).toBeGreaterThanOrEqual(calls - 3);
    // The calls of the killed node may still be open at the server when others get their places.
    expect(provider.mostOpen).toBeLessThanOrEqual(6);
  }
  await database.drop();
});

testInProof('Y-07 S-01 a wait is told by the node, and is in the trace of the running turn in PostgreSQL', async () => {
  const database = await makeTestDatabase();
  await using provider = startProvider({ delayMs: 0, isOpen: false });
  using files = temporaryBundle(limitedBundle({ url: provider.url, agents: ['a'], limits: { concurrent: 1 } }));
  {
    const openReader = (swarm: string) => openPostgresReader({ address: database.address, swarm });
    const options = { bundleFolder: files.folder, swarm: 'limited', store: database.address, openReader };
    await using cluster = await startCluster({ ...options, nodes: 2 });
    const first = cluster.at(0).ask({ instanceKey: '1', input: 'Hello' });
    await until(() => provider.requests.length === 1, { about: 'the first call is open' });
    const told: string[] = [];
    const onNotice = (notice: SwarmNotice) => {
      if (notice.type === 'runtime.event' && notice.name.startsWith('limit.')) told.push(notice.name);
    };
    const second = cluster.at(1).ask({ instanceKey: '2', input: 'Hello' }, { onNotice });
    const { traces } = cluster.openReader();
    const shown = async () => {
      const [turn] = await traces.list({ instanceKey: '2' });
      const read = turn === undefined ? undefined : await traces.read(turn.turnId);
      return (read?.turns ?? []).map((each) => renderTrace(each)).join('\n');
    };
    await until(async () => (await shown()).includes('waiting for concurrent: 1 of Model/main'), {
      about: 'the trace has the wait',
    });
    provider.open();
    await Promise.all([first, second]);
    expect(told).toEqual(['limit.reached', 'limit.waited']);
    await until(async () => / waited \S+ m?s for a limit/.test(await shown()), {
      about: 'the trace has the time of the wait',
    });
  }
  await database.drop();
});
