/** A signed webhook that somebody sends again, to nodes that all listen for it. */
import {
  afterAll,
  beforeAll,
  expect,
  setDefaultTimeout,
  test,
} from '../../packages/postgres/src/testing/with-postgres.ts';
import { createHmac } from 'node:crypto';
import { makeTestDatabase, type TestDatabase } from '../../packages/postgres/src/testing/test-database.ts';
import { temporaryBundle } from '../../packages/runtime/src/testing/temporary-bundle.ts';
import { until } from '../until.ts';
import { startCluster, type StartedNode } from './start-cluster.ts';

setDefaultTimeout(90_000);

const SWARM = 'webhooks';
const secret = 'a-secret-of-a-hook-1';
const bundle = `apiVersion: goondan.ai/v1
kind: Swarm
metadata: { name: ${SWARM} }
spec: { entryAgent: Agent/clerk, agents: [Agent/clerk], policy: { spares: 0 } }
---
apiVersion: goondan.ai/v1
kind: Agent
metadata: { name: clerk }
spec: { modelConfig: { modelRef: Model/clerk } }
---
apiVersion: goondan.ai/v1
kind: Model
metadata: { name: clerk }
spec: { provider: scripted, model: clerk, options: { script: [{ say: Noted. }] } }
---
apiVersion: goondan.ai/v1
kind: Connection
metadata: { name: hook }
spec:
  connectorRef: { kind: Connector, name: webhook, package: '@goondan/base' }
  placement: every
  config: { port: 0, signature: github }
  secrets: { secret: { valueFrom: { env: HOOK_SECRET } } }
  ingress: { rules: [{ match: { event: delivery }, route: {} }] }
`;

let database: TestDatabase;
beforeAll(async () => void (database = await makeTestDatabase({ hasTables: false })));
afterAll(() => database.drop());

test('S-03 S-07 a webhook sent again under another id, to any node, runs once; another body runs, too', async () => {
  using folder = temporaryBundle({ 'goondan.yaml': bundle });
  const env = () => ({ HOOK_SECRET: secret });
  await using cluster = await startCluster({
    ...{ bundleFolder: folder.folder, swarm: SWARM, store: database.address, nodes: 2, leaseSeconds: 10, env },
  });
  const inputs = new Set<string>();
  // A node tells of the turns that it runs, and of those of the input that it accepts.
  for (const { swarm } of cluster.nodes) {
    await swarm.watch({ types: ['turn.ended'] }, (notice) => {
      if (notice.type === 'turn.ended') inputs.add(notice.end.eventId);
    });
  }
  const urls = await Promise.all(cluster.nodes.map(urlOf));
  const send = async (url: string, id: string, body: string) => {
    const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
    const headers = {
      'content-type': 'application/json',
      'x-github-delivery': id,
      'x-github-event': 'issues',
      'x-hub-signature-256': signature,
    };
    return (await fetch(url, { method: 'POST', headers, body })).status;
  };
  const statuses = [];
  for (const [index, url] of [...urls, ...urls].entries()) statuses.push(await send(url, `id-${index}`, '{"a":1}'));
  // Its turn comes after those of all inputs before it.
  statuses.push(await send(urls[1] ?? '', 'last', '{"a":2}'));
  expect(statuses).toEqual([202, 202, 202, 202, 202]);
  await until(() => inputs.size >= 2, { about: 'both ran' });
  await until(async () => (await cluster.at(0).status()).instances.every(({ queued }) => queued === 0));
  expect(inputs.size).toBe(2);
});

/** Returns the address at which the connector of a node listens, from its log. */
async function urlOf(node: StartedNode): Promise<string> {
  const found = () => /Listening on (http:[^"\s]+)/.exec(node.output())?.[1];
  return until(found, { about: `${node.name} listens` });
}
