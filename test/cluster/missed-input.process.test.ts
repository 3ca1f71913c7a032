/** A real node that has missed input of another one, and a store that refuses its turn. */
import { spyOn } from 'bun:test';
import { afterAll, beforeAll, expect, test } from '../../packages/postgres/src/testing/with-postgres.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Swarm } from '@goondan/runtime';
import type { ClusterSource, ClusterStore } from '@goondan/runtime/history';
import { startHere } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';
import { postgresSource } from '../../packages/postgres/src/cluster-source.ts';
import { openPostgresReader } from '../../packages/postgres/src/store/open-reader.ts';
import { makeTestDatabase, type TestDatabase } from '../../packages/postgres/src/testing/test-database.ts';

const instance = { agentName: 'echo', instanceKey: 'one' };
const folder = mkdtempSync(join(tmpdir(), 'goondan-missed-'));
let database: TestDatabase;
const running: Swarm[] = [];

beforeAll(async () => {
  database = await makeTestDatabase();
});

afterAll(async () => {
  for (const swarm of running) await swarm.stop({ graceMs: 500 });
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

async function startNode(node: string, joined: (store: ClusterStore) => void = () => undefined): Promise<Swarm> {
  const own = postgresSource({ address: database.address, swarm: 'scenarios' });
  const source: ClusterSource = {
    ...own,
    async join(facts) {
      const store = await own.join(facts);
      joined(store);
      return store;
    },
  };
  const swarm = await startHere({
    bundleFolder: join(import.meta.dir, 'bundle'),
    workdir: folder,
    stateRoot: join(folder, node),
    onLog: () => undefined,
    cluster: { source, node, token: 'only-the-nodes-of-this-test-know-it-0123456789' },
  });
  running.push(swarm);
  return swarm;
}

test('S-03 a node that has missed earlier input handles it first, after the store refused its turn', async () => {
  const refused: string[] = [];
  const one = await startNode('one', (store) => {
    const append = store.log.append.bind(store.log);
    spyOn(store.log, 'append').mockImplementation((...frame) =>
      append(...frame).catch((error: unknown) => {
        if (GoondanError.is(error)) refused.push(error.code);
        throw error;
      }),
    );
    const read = store.inbox.pendingEntries.bind(store.inbox);
    spyOn(store.inbox, 'pendingEntries').mockImplementation(async (at) => {
      const entries = await read(at);
      return refused.length === 0 ? entries.filter(({ event: { id } }) => id !== 'missed') : entries;
    });
  });
  const two = await startNode('two');
  const delivery = { agent: instance.agentName, instanceKey: instance.instanceKey, input: 'Hello' };
  await one.ask({ ...delivery, id: 'first' });
  await two.deliver({ ...delivery, id: 'missed' });
  const { result } = await one.ask({ ...delivery, id: 'second' });
  expect(result.finishReason).toBe('text_response');
  expect(refused).toEqual(['E_STORE_ORDER']);
  const reader = openPostgresReader({ address: database.address, swarm: 'scenarios' });
  const turns: string[] = [];
  for await (const { turnId } of reader.history.archive(instance)) turns.push(turnId);
  const letters = await reader.deadLetters.list(instance);
  await reader.close();
  expect(turns).toEqual(['turn-first', 'turn-missed', 'turn-second']);
  expect(letters).toEqual([]);
}, 60_000);
