import { describe, expect, test } from '../testing/with-postgres.ts';
import { sleep, systemClock } from '@goondan/runtime/internal';
import { placementConformance } from '@goondan/runtime/testing';
import type { AgentAddress } from '@goondan/types';
import { samples } from '../../../../test/samples.ts';
import { storeAway } from '../driver/coded-error.ts';
import { countStatements } from '../testing/count-statements.ts';
import { makeTestClock, openSwarmPerTest } from '../testing/test-swarm.ts';
import type { NodePlacement } from './placement.ts';
import { until } from '../../../../test/until.ts';

const address: AgentAddress = { agentName: 'coder', instanceKey: 'default' };
const other: AgentAddress = { agentName: 'coder', instanceKey: 'other' };
const codeOf = (action: () => unknown): string => {
  try {
    action();
    return 'nothing';
  } catch (error) {
    return (error as { readonly code: string }).code;
  }
};

const codeFrom = (error: unknown): string => (error as { readonly code: string }).code;

const swarm = await openSwarmPerTest();

describe('nodes in PostgreSQL', () => {
  placementConformance(
    (name, check) => test(`S-02 ${name}`, check),
    async () => {
      const seams = {
        join: (name: string) => swarm.join(name),
        async takeAway(placement: unknown) {
          // Safe: `join` above made it.
          const node = placement as NodePlacement;
          await swarm.endLease(node);
          await node.renew();
        },
      };
      return { seams, again: async () => seams, end: async () => undefined };
    },
  );
});

describe('claims', () => {
  test('S-02 of two nodes that race for an instance again and again one wins each time, and the epochs grow', async () => {
    const nodes = [await swarm.join('one'), await swarm.join('two')] as const;
    const wins = new Map<string, number>();
    let last = 0;
    for (let round = 0; round < samples(500, 20); round += 1) {
      const claims = await Promise.all(nodes.map((node) => node.claim(address)));
      expect(claims.filter(Boolean)).toHaveLength(1);
      const winner = nodes[claims.indexOf(true)] ?? nodes[0];
      wins.set(winner.node, (wins.get(winner.node) ?? 0) + 1);
      expect(winner.epochOf(address)).toBeGreaterThan(last);
      last = winner.epochOf(address);
      await winner.release(address);
    }
  });

  test('S-02 an epoch is not used again after the rows of the instance were deleted', async () => {
    const node = await swarm.join('one');
    await node.claim(address);
    const epoch = node.epochOf(address);
    await sleep(systemClock, 2);
    await swarm.database.query('delete from gdn_instance where swarm = $1', [swarm.swarm]);
    node.forget(address);
    await node.claim(address);
    expect(node.epochOf(address)).toBeGreaterThan(epoch);
  });

  test('a claim whose answer was lost can be repeated', async () => {
    const node = await swarm.join('one');
    await node.claim(address);
    node.forget(address);
    expect(await node.claim(address)).toBe(true);
  });

  test('own instances are claimed again without a statement', async () => {
    const counted = countStatements(swarm.database);
    const node = await swarm.join('one', { database: counted });
    counted.take();
    await node.claim(address);
    expect(counted.take()).toHaveLength(1);
    for (let again = 0; again < 10; again += 1) await node.claim(address);
    expect(counted.take()).toEqual([]);
  });

  test('S-02 a claim that waits for a lock does not take a lease that was renewed meanwhile as ended', async () => {
    const [owner, taker] = [await swarm.join('one'), await swarm.join('two')];
    await owner.claim(address);
    const lock = swarm.database.query(
      `with locked as (update gdn_instance set version = version + 1 where swarm = $1 returning 1)
select pg_sleep(0.6)::text from locked`,
      [swarm.swarm],
    );
    await swarm.database.query(
      `update gdn_node set lease_until = clock_timestamp() + interval '0.3 s' where swarm = $1 and id = $2`,
      [swarm.swarm, owner.id],
    );
    const claim = taker.claim(address);
    await sleep(systemClock, 100);
    await owner.renew();
    await lock;
    expect(await claim).toBe(false);
  });

  test('S-02 a node that joined after a claim began is not taken for an ended one', async () => {
    const taker = await swarm.join('two');
    await swarm.addInput(address, { seq: 1, eventId: 'e1' });
    const lock = swarm.database.query(
      `with locked as (update gdn_instance set owner = 'node-new' where swarm = $1 returning 1)
select pg_sleep(0.3)::text from locked`,
      [swarm.swarm],
    );
    await sleep(systemClock, 50);
    const claim = taker.claim(address);
    await sleep(systemClock, 50);
    await swarm.database.query(
      `insert into gdn_node (swarm, id, name, start, lease_until, version)
values ($1, 'node-new', 'new', 'm', clock_timestamp() + interval '1 min', '1')`,
      [swarm.swarm],
    );
    await lock;
    expect(await claim).toBe(false);
  });

  test('S-04 the epoch of an instance without a frame is given once, so that its process reads nothing', async () => {
    const node = await swarm.join('one');
    expect(node.takeNewEpoch(address)).toBeUndefined();
    await node.claim(address);
    const epoch = node.epochOf(address);
    await node.claim(address);
    expect([node.takeNewEpoch(address), node.takeNewEpoch(address)]).toEqual([epoch, undefined]);
    await node.claim(other);
    await node.release(other);
    expect(node.takeNewEpoch(other)).toBeUndefined();
    await swarm.database.query('update gdn_instance set last_seq = 1 where swarm = $1 and key = $2', [
      swarm.swarm,
      other.instanceKey,
    ]);
    await node.claim(other);
    expect(node.takeNewEpoch(other)).toBeUndefined();
  });
});

describe('leases', () => {
  test('S-02 a frozen node is lost and refused before another node owns its instances', async () => {
    const clock = makeTestClock();
    const frozen = await swarm.join('one', { leaseMs: 500, clock });
    const next = await swarm.join('two');
    await frozen.claim(address);
    clock.freeze();
    frozen.check(address);
    await until(() => next.claim(address));
    expect(codeOf(() => frozen.check(address))).toBe('E_FENCED');
    expect(codeOf(() => frozen.epochOf(address))).toBe('E_FENCED');
  });

  test('S-02 a node whose machine stood still is refused by the database, and lost', async () => {
    const clock = makeTestClock();
    const still = { ...clock, elapsed: () => 0 };
    const node = await swarm.join('one', { clock: still });
    const next = await swarm.join('two');
    await node.claim(address);
    clock.freeze();
    await swarm.endLease(node);
    expect(await next.claim(address)).toBe(true);
    node.check(address);
    const claimed = await node.claim(other).catch(codeFrom);
    expect(claimed).toBe('E_FENCED');
    expect(codeOf(() => node.check(address))).toBe('E_FENCED');
    const rows = await swarm.database.query<{ readonly owner: string }>(
      'select owner from gdn_instance where swarm = $1',
      [swarm.swarm],
    );
    expect(rows.map(({ owner }) => owner)).toEqual([next.id]);
  });

  test('S-02 an ended lease is not renewed', async () => {
    const node = await swarm.join('one');
    const told: string[] = [];
    node.onLost((error) => void told.push(error.code));
    await swarm.endLease(node);
    await node.renew();
    await node.renew();
    expect(told).toEqual(['E_FENCED']);
    expect(await (await swarm.join('two')).nodes()).toMatchObject([{ name: 'two' }]);
  });

  test('S-10 a node without an answer for half a lease starts nothing, and keeps its place', async () => {
    const clock = makeTestClock();
    const node = await swarm.join('one', { clock });
    await node.claim(address);
    clock.jump({ elapsed: 31_000 });
    expect(codeOf(() => node.check(address))).toBe('E_STORE_AWAY');
    await node.renew();
    expect(codeOf(() => node.check(address))).toBe('nothing');
  });

  test('S-10 a node knows whether it lost its place to the database, or because it stood still itself', async () => {
    const lost = async (elapsed: number) => {
      const clock = makeTestClock();
      const node = await swarm.join(`after ${elapsed}`, { clock });
      clock.jump({ elapsed });
      await node.renew();
      return node.stoodStill;
    };
    expect([await lost(58_000), await lost(120_000)]).toEqual([false, true]);
    const ended = await swarm.join('ended');
    await swarm.endLease(ended);
    await ended.renew();
    expect(ended.stoodStill).toBe(true);
  });

  test('S-10 an answer that comes after the loss does not change why the place was lost', async () => {
    const clock = makeTestClock();
    const node = await swarm.join('cut off', { clock });
    clock.jump({ elapsed: 58_000 });
    await node.renew();
    node.ended();
    expect(node.stoodStill).toBe(false);
  });

  test('S-10 a node without an answer for a whole lease is lost; an answer that comes later changes nothing', async () => {
    const clock = makeTestClock();
    const late = { ...swarm.database };
    const node = await swarm.join('one', { clock, database: late });
    const told: (string | undefined)[] = [];
    node.onLost((error, instance) => void told.push(error.code, instance?.agentName));
    late.query = async (statement, values) => {
      const answer = await swarm.database.query<never>(statement, values);
      clock.jump({ elapsed: 60_000 });
      return answer;
    };
    await node.renew();
    expect(told).toEqual(['E_FENCED', undefined]);
    expect(codeOf(() => node.check())).toBe('E_FENCED');
    expect(node.mayRepeat()).toBe(false);
  });
});

describe("S-05 only the database's clock decides about leases", () => {
  for (const date of [-86_400_000, 86_400_000]) {
    test(`the clock of a node that jumped by ${date} ms changes nothing`, async () => {
      const clock = makeTestClock();
      const [owner, taker] = [await swarm.join('one', { clock }), await swarm.join('two', { clock })];
      await owner.claim(address);
      clock.jump({ date });
      expect(await taker.claim(address)).toBe(false);
      await Promise.all([owner.renew(), taker.renew()]);
      owner.check(address);
      expect((await taker.nodes()).map(({ name }) => name).toSorted()).toEqual(['one', 'two']);
      expect(await taker.claim(address)).toBe(false);
      await swarm.endLease(owner);
      expect(await taker.claim(address)).toBe(true);
    });
  }

  test('a monotonic clock that jumped makes a node stop, and take nothing', async () => {
    const clock = makeTestClock();
    const owner = await swarm.join('one');
    const jumped = await swarm.join('two', { clock });
    await owner.claim(address);
    clock.jump({ elapsed: 86_400_000 });
    expect(await jumped.claim(address).catch(codeFrom)).toBe('E_FENCED');
    owner.check(address);
  });
});

describe('joining', () => {
  test('S-02 refuses the name of a living node again and again, until its lease has ended', async () => {
    const first = await swarm.join('one', { facts: { name: 'one', start: 'first', version: '0.1.0' } });
    await first.claim(address);
    // A copy of the node's folder knows of the start before the first one.
    const facts = { name: 'one', start: 'copy', ended: ['before'], version: '0.1.0' };
    for (let attempt = 0; attempt < 3; attempt += 1) {
      expect(await swarm.join('one', { facts }).catch(codeFrom)).toBe('E_NODE_TAKEN');
      await first.renew();
      first.check(address);
    }
    await swarm.endLease(first);
    const later = await swarm.join('one', { facts });
    expect(await later.claim(address)).toBe(true);
  });

  test('of two nodes that take a name at the same moment at most one gets it', async () => {
    for (let round = 0; round < 20; round += 1) {
      const name = `twin ${round}`;
      const joins = await Promise.allSettled(
        ['left', 'right'].map((start) => swarm.join(name, { facts: { name, start, version: '1' } })),
      );
      const living = (await (await swarm.join(`reader ${round}`)).nodes()).filter((node) => node.name === name);
      expect(living.length).toBe(joins.filter(({ status }) => status === 'fulfilled').length);
      expect(living.length).toBeLessThan(2);
    }
  });

  test('S-02 a start that has ended for certain is replaced at once, and its node is lost', async () => {
    const earlier = await swarm.join('one');
    await earlier.claim(address);
    const later = await swarm.join('one');
    expect(await later.claim(address)).toBe(true);
    expect((await later.nodes()).map(({ name }) => name)).toEqual(['one']);
    await earlier.renew();
    expect(codeOf(() => earlier.check(address))).toBe('E_FENCED');
  });

  test('refuses a database without tables, and one with tables of another version', async () => {
    const database = { ...swarm.database };
    for (const rows of [[], [{ there: true, version: 99 }]]) {
      // Safe: these are the rows of the query for the version.
      database.query = async <Found>() => rows as Found[];
      const refused = swarm.join('one', { database }).catch(codeFrom);
      expect(await refused).toBe('E_STORE_SCHEMA');
    }
  });

  test('removes nodes that ended long ago, after their instances were freed', async () => {
    const ended = await swarm.join('one');
    await ended.claim(address);
    await swarm.database.query(`update gdn_node set lease_until = now() - interval '2 hours' where swarm = $1`, [
      swarm.swarm,
    ]);
    const rows = async () => {
      const found = await swarm.database.query<{ readonly id: string }>('select id from gdn_node where swarm = $1', [
        swarm.swarm,
      ]);
      return found.map(({ id }) => id).includes(ended.id);
    };
    const node = await swarm.join('two');
    expect(await rows()).toBe(true);
    expect(await node.claim(address)).toBe(true);
    await swarm.join('three');
    expect(await rows()).toBe(false);
  });
});

describe('draining', () => {
  test('tells the node once, and gives it no new instances', async () => {
    const [node, asking] = [await swarm.join('one'), await swarm.join('two')];
    await node.claim(address);
    let told = 0;
    node.onDrain(() => (told += 1));
    await asking.drain('one');
    await node.renew();
    await node.renew();
    expect(told).toBe(1);
    node.onDrain(() => (told += 1));
    expect(told).toBe(2);
    expect([await node.claim(address), await node.claim(other)]).toEqual([true, false]);
    await node.release(address);
    expect([await node.claim(address), await asking.claim(address)]).toEqual([false, true]);
    await asking.renew();
    expect((await asking.nodes()).find(({ name }) => name === 'one')).toMatchObject({ isDraining: true });
  });

  test('refuses a name that no living node has', async () => {
    const node = await swarm.join('one');
    const refused = node.drain('nobody').catch(codeFrom);
    expect(await refused).toBe('E_NODE_UNKNOWN');
  });
});

describe('the list of nodes', () => {
  test('has loads, counts of instances and control ports', async () => {
    const control = { address: '127.0.0.1:7444', certificate: 'ab' };
    const facts = { name: 'one', start: 's', version: '0.2.0', control };
    const node = await swarm.join('one', { facts });
    await node.claim(address);
    node.setLoad(() => 7);
    await node.renew();
    const next = await swarm.join('two');
    const one = { name: 'one', version: '0.2.0', control, load: 7, instances: 1, isDraining: false };
    expect((await next.nodes()).find(({ name }) => name === 'one')).toMatchObject(one);
    expect(await next.ownerOf(address)).toMatchObject(one);
    expect(await next.ownerOf(other)).toBeUndefined();
    // A node knows its own counts without a renewal.
    node.setLoad(() => 8);
    await node.claim(other);
    expect((await node.nodes()).find(({ name }) => name === 'one')).toMatchObject({ load: 8, instances: 2 });
    await swarm.endLease(node);
    expect(await next.ownerOf(address)).toBeUndefined();
  });

  test('a hint that cannot be sent does not end a claim', async () => {
    const { database } = swarm;
    const without: typeof database.query = (statement, values) =>
      statement.startsWith('select case') ? Promise.reject(storeAway('a test')) : database.query(statement, values);
    await swarm.join('two');
    const node = await swarm.join('one', { database: { query: without } });
    node.setLoad(() => 7);
    expect(node.claimDelayMs()).toBeGreaterThan(0);
    expect(await node.claim({ agentName: 'coder', instanceKey: 'hinted' })).toBe(true);
  });

  test('refused agents are left to other nodes', async () => {
    const [node, next] = [await swarm.join('one'), await swarm.join('two')];
    node.refuseAgents(new Set(['coder']));
    expect([await node.claim(address), await next.claim(address)]).toEqual([false, true]);
    node.refuseAgents(new Set());
    expect(await node.claim(other)).toBe(true);
  });

  test('an instance whose write was refused is lost alone', async () => {
    const node = await swarm.join('one');
    await node.claim(address);
    await node.claim(other);
    const told: (string | undefined)[] = [];
    node.onLost((_error, instance) => void told.push(instance?.instanceKey));
    const error = Object.assign(new Error('x'), { code: 'E_FENCED' }) as never;
    expect(node.loseInstance(address, error, node.epochOf(address) - 1)).toBe(false);
    expect(told).toEqual([]);
    expect(node.loseInstance(address, error, node.epochOf(address))).toBe(true);
    expect(told).toEqual(['default']);
    expect(codeOf(() => node.check(address))).toBe('E_FENCED');
    node.check(other);
  });
});
