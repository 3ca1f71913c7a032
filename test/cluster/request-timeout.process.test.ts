/** A layer asks an agent of another node that does not answer in time, on both stores. */
import {
  afterAll,
  beforeAll,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from '../../packages/postgres/src/testing/with-postgres.ts';
import { makeTestDatabase, type TestDatabase } from '../../packages/postgres/src/testing/test-database.ts';
import { temporaryBundle } from '../../packages/runtime/src/testing/temporary-bundle.ts';
import { countedBundle, SWARM } from '../usage/bundle.ts';
import { startCountingServer } from '../usage/counting-server.ts';
import { until } from '../until.ts';
import { startCluster } from './start-cluster.ts';

setDefaultTimeout(90_000);

let database: TestDatabase;
beforeAll(async () => void (database = await makeTestDatabase({ hasTables: false })));
afterAll(() => database.drop());

const layer = `export const register = ({ pipeline }) =>
  pipeline.register('turn', async (ctx) => {
    await ctx.agents.request({ target: 'c', input: 'Hello.', timeoutMs: 300 });
    return ctx.next();
  });`;
const extension = `---
apiVersion: goondan.ai/v1
kind: Extension
metadata: { name: impatient }
spec: { entry: ./impatient.js }
`;

describe.each([
  ['two nodes with PostgreSQL', () => ({ store: database.address, nodes: 2, leaseSeconds: 10 })],
  ['files', () => ({})],
] as const)('a request of a layer, on %s', (_, options) => {
  test('A-03 ends at its limit while the model of the callee has not answered, whose turn is cancelled', async () => {
    await using server = startCountingServer();
    const yaml = countedBundle(server.url).replace(
      'name: a }\nspec:',
      'name: a }\nspec:\n  extensions: [Extension/impatient]',
    );
    using bundle = temporaryBundle({ 'goondan.yaml': `${yaml}${extension}`, 'impatient.js': layer });
    await using cluster = await startCluster({ bundleFolder: bundle.folder, swarm: SWARM, ...options() });
    // The other node, if there is one, owns the conversation of the callee from now on.
    await cluster.at(1).ask({ agent: 'c', input: 'Hello.' });
    const gate = Promise.withResolvers<void>();
    server.beforeReply = () => gate.promise;
    const ends: (string | undefined)[] = [];
    await cluster.at(1).watch({ types: ['turn.ended'], agent: 'c' }, (notice) => {
      if (notice.type === 'turn.ended') ends.push(notice.end.result.error?.code);
    });
    const { result } = await cluster.at(0).ask({ agent: 'a', input: 'Go.' });
    expect(result.error).toMatchObject({
      code: 'E_AGENT_TIMEOUT',
      message: 'Agent "c" did not answer within 300 ms (timeoutMs of the request).',
    });
    await until(() => ends.length === 1, { about: 'the callee is cancelled' });
    expect(ends).toEqual(['E_CANCELLED']);
    gate.resolve();
  });
});
