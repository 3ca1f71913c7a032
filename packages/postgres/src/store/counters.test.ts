import { describe, expect, test } from '../testing/with-postgres.ts';
import { counterLimits } from '@goondan/runtime/internal';
import { counterConformance } from '@goondan/runtime/testing';
import { type AgentAddress, GoondanError } from '@goondan/types';
import type { Database } from '../driver/database.ts';
import type { NodePlacement } from '../nodes/placement.ts';
import { openCutDatabase } from '../testing/cutting-proxy.ts';
import { openSwarmPerTest } from '../testing/test-swarm.ts';
import { DROP_COUNTERS } from './counter-statements.ts';
import { PostgresCounters } from './counters.ts';

const first = { agentName: 'conformance', instanceKey: 'default' };
const second = { agentName: 'conformance', instanceKey: 'other key/with: signs' };
const swarm = await openSwarmPerTest();
const { proxy, cut } = await openCutDatabase(swarm.address);

async function join(name: string, owned: AgentAddress, database: Database = swarm.database) {
  const placement: NodePlacement = await swarm.join(name);
  await placement.claim(owned);
  const context = { database, swarm: swarm.swarm, node: placement.id, mayRepeat: () => true };
  return { placement, counters: new PostgresCounters(context, { epochOf: (at) => placement.epochOf(at) }) };
}

const openAt = (databaseOf: () => Database) => async () => {
  const one = await join('one', first, databaseOf());
  const elsewhere = async () => (await join('two', second, databaseOf())).counters;
  return {
    seams: { counters: one.counters, elsewhere },
    async again() {
      await one.counters.close();
      await swarm.endLease(one.placement);
      return { counters: (await join('three', first, databaseOf())).counters, elsewhere };
    },
    end: async () => undefined,
  };
};

describe('Y-04 counters in PostgreSQL conform', () => {
  counterConformance(
    test,
    openAt(() => swarm.database),
  );
});

describe.each(['before', 'after'] as const)('S-03 counters conform when connections are cut %s statements', (when) => {
  counterConformance(test, async () => {
    proxy.cutWhen((statement) => (statement % 7 === 0 ? when : undefined));
    return openAt(() => cut)();
  });
});

test('Y-04 a write of a node that was late changes nothing', async () => {
  const [one, two] = [await join('one', first), await join('two', second)];
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
});

test('Y-04 a call whose reservation was ended does not begin, and the error does not blame the owner', async () => {
  const { counters } = await join('one', first);
  const call = { id: 'ended', claims: [{ counter: '["swarm","a"]', window: 'ever' as const, amount: 1, limit: 1 }] };
  await counters.reserve(first, call);
  await counters.release(call);
  const outcome = await counters.begin(first, [call]).catch((error: unknown) => error);
  expect(outcome).toMatchObject({
    code: 'E_FENCED',
    message: 'The reservation of this call was ended, because its process counts as lost.',
  });
});

/** Returns a database that runs `before` ahead of the first statement that writes states. */
function meeting(database: Database, before: () => Promise<unknown>): Database {
  let isFirst = true;
  return {
    listen: (...given) => database.listen(...given),
    close: () => database.close(),
    async query(statement, values, patience) {
      if (isFirst && statement.includes('update gdn_counter')) {
        isFirst = false;
        await before();
      }
      return database.query(statement, values, patience);
    },
  };
}

const claimOf = (name: string, limit = 1) =>
  ({ counter: JSON.stringify(['swarm', name]), window: 'ever', amount: 1, limit }) as const;

describe('Y-04 a write of counters', () => {
  test('changes nothing if another node has changed one of them since', async () => {
    const two = await join('two', second);
    // The rows exist, so that only their versions differ.
    const both = { id: 'both', claims: [claimOf('a', 9), claimOf('b', 9)] };
    await two.counters.reserve(second, both);
    await two.counters.release(both);
    const taken = { id: 'taken', claims: [claimOf('b')] };
    const database = meeting(swarm.database, () => two.counters.reserve(second, taken));
    const one = await join('one', first, database);
    const late = { id: 'late', claims: [claimOf('a'), claimOf('b')] };
    expect(await one.counters.reserve(first, late)).toMatchObject({ status: 'refused', claim: 1, used: 1 });
    expect(await two.counters.reserve(second, { id: 'next', claims: [claimOf('a')] })).toMatchObject({
      status: 'reserved',
    });
  });

  test('needs the lease of the node, its own instance and the epoch of its claim', async () => {
    const [one, two] = [await join('one', first), await join('two', second)];
    const epoch = one.placement.epochOf(first);
    const at = (node: string, asked: number) =>
      new PostgresCounters(
        { database: swarm.database, swarm: swarm.swarm, node, mayRepeat: () => true },
        { epochOf: () => asked },
      );
    const reserve = (counters: PostgresCounters, id: string) =>
      counters.reserve(first, { id, claims: [claimOf('a', 9)] }).then(
        ({ status }) => status,
        (error: unknown) => GoondanError.is(error) && error.code,
      );
    expect(await reserve(at(one.placement.id, epoch), 'own')).toBe('reserved');
    expect(await reserve(at(one.placement.id, epoch + 1), 'epoch')).toBe('E_FENCED');
    expect(await reserve(at(two.placement.id, epoch), 'owner')).toBe('E_FENCED');
    await swarm.endLease(one.placement);
    expect(await reserve(at(one.placement.id, epoch), 'lease')).toBe('E_FENCED');
  });

  test('that is refused for one instance is made for the others', async () => {
    const { counters } = await join('one', first);
    const outcomes = await Promise.allSettled([
      counters.reserve(second, { id: 'other', claims: [claimOf('a', 9)] }),
      counters.reserve(first, { id: 'own', claims: [claimOf('a', 9)] }),
    ]);
    expect(outcomes).toMatchObject([{ reason: { code: 'E_FENCED' } }, { value: { status: 'reserved' } }]);
  });

  test('that fails is told to all that wait for it, and close waits for it', async () => {
    const database = meeting(swarm.database, () => Promise.reject(new Error('full')));
    const { counters } = await join('one', first, database);
    const ends: unknown[] = [];
    const reserve = (id: string) =>
      counters.reserve(first, { id, claims: [claimOf('a', 9)] }).then(
        ({ status }) => ends.push(status),
        (error: unknown) => ends.push(error),
      );
    void reserve('a');
    void reserve('b');
    await counters.close();
    await Promise.resolve();
    expect(ends).toMatchObject([{ message: 'full' }, { message: 'full' }]);
    await reserve('c');
    expect(ends.at(-1)).toBe('reserved');
  });
});

describe('Y-04 rows of counters', () => {
  test('are limited, and those of windows that are over make room', async () => {
    const { counters } = await join('one', first);
    const fill = `insert into gdn_counter (swarm, name) select $1, 'c' || n from generate_series(1, ${counterLimits.mostCounters}) as n`;
    const reserve = (name: string) => counters.reserve(first, { id: name, claims: [claimOf(name)] });
    await reserve('old');
    await swarm.database.query(fill, [swarm.swarm]);
    // A call that needs no other counter is ended, although it is written together with calls that are refused.
    const together = await Promise.allSettled([
      reserve('new'),
      counters.settle({ id: 'old', claims: [claimOf('old')] }, [0]),
      reserve('newer'),
      counters.reserve(first, { id: 'next', claims: [claimOf('old')] }),
    ]);
    const refused = { reason: { code: 'E_COUNTER_LIMIT' } };
    expect(together).toMatchObject([refused, { status: 'fulfilled' }, refused, { value: { status: 'reserved' } }]);
    for (let attempt = 0; attempt < 2; attempt += 1) {
      expect(await reserve('new').catch((error: unknown) => error)).toMatchObject({ code: 'E_COUNTER_LIMIT' });
    }
    await swarm.database.query(
      "update gdn_counter set keep_until = now() - interval '1 second' where swarm = $1 and name in ('c1', 'c2')",
      [swarm.swarm],
    );
    // The rows that are over go with the first attempt, and the next one finds the room.
    await reserve('new').catch(() => undefined);
    expect(await reserve('new')).toMatchObject({ status: 'reserved' });
  });

  test('are removed without reading those of other turns', async () => {
    const { database } = swarm;
    const names = ['["turn","a","k","t7","calls"]', '["turn","a","k","t7","é"]', '["turn","a","k","t70","calls"]'];
    const insert = 'insert into gdn_counter (swarm, name)';
    const others = `select $1, '["turn","a","k","' || n || '","calls"]' from generate_series(1, 20000) as n`;
    await database.query(`${insert} ${others}`, [swarm.swarm]);
    await database.query(`${insert} select $1, unnest($2::text[])`, [swarm.swarm, names]);
    await database.query('analyze gdn_counter');
    const rows = await database.query<{ readonly 'QUERY PLAN': string }>(
      `explain (analyze, costs off, timing off, summary off) ${DROP_COUNTERS}`,
      [swarm.swarm, ['["turn","a","k","t7",']],
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toMatch(/Index Scan (using|on) gdn_counter_pkey .*\(actual rows=2[ .]/);
    expect(plan).not.toContain('Rows Removed');
    const [left] = await database.query<{ count: number }>(
      'select count(*)::int as count from gdn_counter where swarm = $1',
      [swarm.swarm],
    );
    expect(left).toEqual({ count: 20_001 });
  });

  test('are kept for longer than anything in them counts', async () => {
    const { counters } = await join('one', first);
    const claims = [
      { ...claimOf('ever'), counter: '["swarm","ever"]' },
      { ...claimOf('day'), counter: '["swarm","day"]', window: 'day' as const },
      { ...claimOf('minute'), counter: '["swarm","minute"]', window: 'minute' as const },
      { ...claimOf('turn'), counter: '["turn","a","b","c","turn"]' },
    ];
    await counters.reserve(first, { id: 'a', claims });
    const days = await swarm.database.query<{ name: string; days: number | null }>(
      'select name, floor(extract(epoch from keep_until - now()) / 86400 + 0.5)::int as days from gdn_counter where swarm = $1',
      [swarm.swarm],
    );
    const kept = Object.fromEntries(days.map((row) => [JSON.parse(row.name).at(-1), row.days]));
    expect(kept).toEqual({ ever: null, day: 2, minute: 0, turn: 60 });
  });
});
