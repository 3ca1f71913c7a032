// Tests a question of an agent in PostgreSQL: its process is killed, and a person answers afterwards.
import { expect, test } from './testing/with-postgres.ts';
import { join } from 'node:path';
import { loadBundle, resolveSwarm } from '@goondan/runtime/bundle';
import { startOrchestrator } from '../../runtime/src/orchestrator/start-orchestrator.ts';
import { postgresSource } from './cluster-source.ts';
import { addToken } from './nodes/tokens.ts';
import { openTestDatabase } from './testing/test-database.ts';
import { temporaryFolder } from '../../../test/temporary-folder.ts';
import { until } from '../../../test/until.ts';

const folder = join(import.meta.dir, '../../base/examples/ask-person');
const { address, database } = await openTestDatabase();
const stateRoot = temporaryFolder();

test('N-04 S-01 a question of an agent survives kill -9 in PostgreSQL, and its answer reaches the call', async () => {
  const loaded = await loadBundle(folder, { environment: {} });
  const { plan } = resolveSwarm(loaded, { environment: {}, workdir: stateRoot });
  const token = await addToken(database, { name: 'node', scope: 'operate' });
  const swarm = await startOrchestrator({
    plan: { ...plan, policy: { ...plan.policy, spares: 0 } },
    stateRoot,
    workspaceId: 'node',
    cluster: { source: postgresSource({ address, swarm: 'planner' }), node: 'one', token },
  });
  try {
    const turn = swarm.ask({ input: 'And where?' });
    const [before] = await until(async () => nonEmpty(await swarm.questions()));
    const [instance] = (await swarm.status()).instances;
    process.kill(instance?.pid ?? 0, 'SIGKILL');
    await until(async () => (await swarm.status()).instances.some(({ pid }) => pid !== instance?.pid));
    const [after] = await until(async () => nonEmpty(await swarm.questions()));
    expect(after).toEqual(before);
    const { id = '', digest = '' } = after ?? {};
    await swarm.answer({ id, digest, decision: 'approved', by: 'ana', content: { answer: 'Oslo' } });
    expect(JSON.stringify((await turn).result.responseMessage)).toContain('answered by ana: Oslo');
    expect(await swarm.questions()).toEqual([]);
  } finally {
    await swarm.stop({ graceMs: 5_000 });
  }
}, 60_000);

const nonEmpty = <Item>(list: readonly Item[]) => list.length > 0 && list;
