import { afterAll, describe, expect, test } from '../testing/with-postgres.ts';
import { counterConformance } from '@goondan/runtime/testing';
import type { AgentAddress } from '@goondan/types';
import { StoreAddress } from '../driver/address.ts';
import { type Database, openDatabase } from '../driver/database.ts';
import type { NodePlacement } from '../nodes/placement.ts';
import { startCuttingProxy } from '../testing/cutting-proxy.ts';
import { openTestSwarms, type TestSwarm } from '../testing/test-swarm.ts';
import { PostgresCounters } from './counters.ts';

const first = { agentName: 'conformance', instanceKey: 'default' };
const second = { agentName: 'conformance', instanceKey: 'other key/with: signs' };
const made = await openTestSwarms();
const { hosts, database: databaseName } = StoreAddress.parse(made.address);
const proxy = await startCuttingProxy(hosts[0]?.port ?? 0);
const cut = openDatabase(`postgres://postgres@127.0.0.1:${proxy.port}/${databaseName}`, { connections: 4 });

afterAll(async () => {
  proxy.cutWhen(undefined);
  await cut.close();
  await proxy.close();
  await made.end();
});

async function join(swarm: TestSwarm, name: string, owned: AgentAddress, database: Database = swarm.database) {
  const placement: NodePlacement = await swarm.join(name);
  await placement.claim(owned);
  const context = { database, swarm: swarm.swarm, node: placement.id, mayRepeat: () => true };
  return { placement, counters: new PostgresCounters(context, { epochOf: (at) => placement.epochOf(at) }) };
}

const openAt = (databaseOf: (swarm: TestSwarm) => Database) => async () => {
  const swarm = made.make();
  const one = await join(swarm, 'one', first, databaseOf(swarm));
  const elsewhere = async () => (await join(swarm, 'two', second, databaseOf(swarm))).counters;
  return {
    seams: { counters: one.counters, elsewhere },
    async again() {
      await one.counters.close();
      await swarm.endLease(one.placement);
      return { counters: (await join(swarm, 'three', first, databaseOf(swarm))).counters, elsewhere };
    },
    end: () => swarm.end(),
  };
};

describe('Y-04 counters in PostgreSQL conform', () => {
  counterConformance(
    test,
    openAt(({ database }) => database),
  );
});

describe.each(['before', 'after'] as const)('S-03 counters conform when connections are cut %s statements', (when) => {
  counterConformance(test, async () => {
    proxy.cutWhen((statement) => (statement % 7 === 0 ? when : undefined));
    return openAt(() => cut)();
  });
});

test('Y-04 a write of a node that was late changes nothing', async () => {
  const swarm = made.make();
  const [one, two] = [await join(swarm, 'one', first), await join(swarm, 'two', second)];
  const call = (id: string, window: 'ever' | 'call' = 'ever') => ({
    id,
    claims: [{ counter: '["swarm","a"]', window, amount: 1, limit: 1 }],
  });
  expect(await one.counters.reserve(first, call('lost'))).toMatchObject({ status: 'reserved' });
  await swarm.endLease(one.placement);
  expect(await two.counters.reserve(second, call('next'))).toMatchObject({ status: 'reserved' });
  expect(one.counters.begin(first, [call('lost')])).rejects.toMatchObject({ code: 'E_FENCED' });
  await two.counters.begin(second, [call('next')]);
  await two.counters.settle(call('next'), [1]);
  expect(await two.counters.reserve(second, call('more'))).toMatchObject({ status: 'refused', used: 1 });
  await swarm.end();
});
