import { describe, expect, test } from '../testing/with-postgres.ts';
import type { AgentAddress } from '@goondan/types';
import { until } from '../../../../test/until.ts';
import { openSwarmPerTest } from '../testing/test-swarm.ts';
import { claimInstance } from './claim-rows.ts';
import type { NodePlacement } from './placement.ts';

const begun: AgentAddress = { agentName: 'coder', instanceKey: 'begun' };
const waiting: AgentAddress = { agentName: 'coder', instanceKey: 'waiting' };
const rows = await openSwarmPerTest();

async function addInputs(): Promise<void> {
  for (const at of [begun, waiting]) await rows.addInput(at, { seq: 1, eventId: at.instanceKey });
  await rows.database.query(`update gdn_inbox set began = true where swarm = $1 and key = 'begun'`, [rows.swarm]);
}

async function lostNodes(): Promise<Readonly<Record<string, readonly string[]>>> {
  const found = await rows.database.query<{ key: string; lost: string }>(
    `select key, array_to_string(lost_nodes, ',') as lost from gdn_inbox where swarm = $1`,
    [rows.swarm],
  );
  return Object.fromEntries(found.map(({ key, lost }) => [key, lost === '' ? [] : lost.split(',')]));
}

/** The number of statements of this database that sleep. */
async function sleeping(): Promise<number> {
  const found = await rows.database.query(
    `select 1 from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
  );
  return found.length;
}

async function claimBoth(node: NodePlacement): Promise<void> {
  for (const at of [begun, waiting]) expect(await node.claim(at)).toBe(true);
}

describe('R-03 a node that ended', () => {
  test('counts against the turn that had begun there, once for each node', async () => {
    await addInputs();
    const first = await rows.join('one');
    await claimBoth(first);
    await rows.endLease(first);
    const second = await rows.join('two');
    await claimBoth(second);
    // The answer of the first claim was lost.
    await claimInstance(rows, second.id, begun);
    expect(await lostNodes()).toEqual({ begun: [first.id], waiting: [] });
    await rows.endLease(second);
    // A node that starts again under its name has the same life behind it.
    const third = await rows.join('two');
    await claimBoth(third);
    // A claim whose snapshot still had an earlier owner.
    await rows.database.query('update gdn_instance set owner = $2 where swarm = $1', [rows.swarm, first.id]);
    await claimBoth(await rows.join('three'));
    expect(await lostNodes()).toEqual({ begun: [first.id, second.id], waiting: [] });
  });

  test('is noted for an event beside at most 99 others', async () => {
    await addInputs();
    const lose = async (from: string, to: string) => {
      const node = await rows.join(from);
      await node.claim(begun);
      await rows.endLease(node);
      await (await rows.join(to)).claim(begun);
      return (await lostNodes())['begun']?.length;
    };
    await rows.database.query(
      `update gdn_inbox set lost_nodes = array_fill('lost'::text, array[99]) where swarm = $1 and key = 'begun'`,
      [rows.swarm],
    );
    expect(await lose('one', 'two')).toBe(100);
    await rows.database.query('update gdn_instance set owner = null where swarm = $1', [rows.swarm]);
    expect(await lose('three', 'four')).toBe(100);
  });

  test('does not count if it has left or has given the conversation away', async () => {
    await addInputs();
    const [first, second] = [await rows.join('one'), await rows.join('two')];
    await claimBoth(first);
    await first.leave();
    await claimBoth(second);
    for (const at of [begun, waiting]) await second.release(at);
    await claimBoth(await rows.join('three'));
    expect(await lostNodes()).toEqual({ begun: [], waiting: [] });
  });

  test('does not count in a claim that fails, nor if it gives the conversation away while another node claims it', async () => {
    await addInputs();
    const [first, second] = [await rows.join('one'), await rows.join('two')];
    await claimBoth(first);
    // The claim sees the owner of before, and waits until it has given the conversation away.
    const released = rows.database.query(
      `with freed as (update gdn_instance set owner = null where swarm = $1 and key = 'begun' returning 1)
select pg_sleep(0.5) from freed`,
      [rows.swarm],
    );
    await until(async () => (await sleeping()) === 1);
    expect(await second.claim(begun)).toBe(true);
    await released;
    await rows.endLease(second);
    const third = await rows.join('three');
    await rows.endLease(third);
    expect(await claimInstance(rows, third.id, begun)).toMatchObject({ epoch: undefined, isLiving: false });
    expect(await lostNodes()).toEqual({ begun: [], waiting: [] });
  });

  test('does not count against a turn that waits for a person, until the question expires', async () => {
    await addInputs();
    const first = await rows.join('one');
    await claimBoth(first);
    await rows.database.query(
      `insert into gdn_approval (swarm, id, record, agent, key, expires_at)
values ($1, 'q', '{}', 'coder', 'begun', clock_timestamp() + interval '1 hour')`,
      [rows.swarm],
    );
    await rows.endLease(first);
    const second = await rows.join('two');
    await claimBoth(second);
    expect(await lostNodes()).toEqual({ begun: [], waiting: [] });
    // The question has expired, and no node has removed it yet.
    await rows.database.query('update gdn_approval set expires_at = clock_timestamp() where swarm = $1', [rows.swarm]);
    await rows.endLease(second);
    await claimBoth(await rows.join('three'));
    expect(await lostNodes()).toEqual({ begun: [second.id], waiting: [] });
  });
});

describe('S-10 a node that was cut off from the database, and lived', () => {
  test('does not count, whether it joins again before or after its turns were taken over', async () => {
    await addInputs();
    const [first, other] = [await rows.join('one'), await rows.join('two')];
    await claimBoth(first);
    await rows.endLease(first);
    expect(await other.claim(begun)).toBe(true);
    const again = await rows.join('one', { cutOff: first.id });
    expect(await lostNodes()).toEqual({ begun: [], waiting: [] });
    await rows.database.query('update gdn_inbox set began = true where swarm = $1', [rows.swarm]);
    expect(await again.claim(waiting)).toBe(true);
    expect(await lostNodes()).toEqual({ begun: [], waiting: [] });
  });
});
