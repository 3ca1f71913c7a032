import { describe, expect, test } from '../testing/with-postgres.ts';
import type { AgentAddress } from '@goondan/types';
import { countStatements } from '../testing/count-statements.ts';
import { makeTestClock, openSwarmPerTest } from '../testing/test-swarm.ts';
import type { NodePlacement } from './placement.ts';
import { SCAN } from './scan.ts';
import { WakeUps, type WakeUpsOptions } from './wake-ups.ts';
import { until } from '../../../../test/until.ts';

const address: AgentAddress = { agentName: 'coder', instanceKey: 'default' };
const at = (instanceKey: string): AgentAddress => ({ agentName: 'coder', instanceKey });

const opened: WakeUps[] = [];
const swarm = await openSwarmPerTest(async () => {
  for (const wakeUps of opened.splice(0)) await wakeUps.close();
});

/** Opens the wake-ups of a node, with a long pause between scans unless the test says otherwise. */
function open(placement: NodePlacement, options: Partial<WakeUpsOptions> = {}) {
  const told: string[] = [];
  const wakeUps = new WakeUps({
    database: swarm.database,
    swarm: swarm.swarm,
    placement,
    scanMs: 3_600_000,
    onInput: ({ instanceKey }) => void told.push(instanceKey),
    onAnswer: () => void told.push('answer'),
    onQuestion: () => void told.push('approval'),
    onDeployed: ({ digest }) => void told.push(`deployed ${digest}`),
    ...options,
  });
  opened.push(wakeUps);
  return { wakeUps, told };
}

async function cancel({ agentName, instanceKey }: AgentAddress, seq: number): Promise<void> {
  await swarm.database.query(
    `update gdn_inbox set cancelled = 'stop' where swarm = $1 and agent = $2 and key = $3 and seq = $4`,
    [swarm.swarm, agentName, instanceKey, seq],
  );
}

describe('the scan', () => {
  test('S-03 tells of input of own instances once, and again for new input and new cancel marks', async () => {
    const node = await swarm.join('one');
    const { wakeUps, told } = open(node);
    await node.claim(address);
    await wakeUps.scan();
    expect(told).toEqual([]);
    await swarm.addInput(address, { seq: 1, eventId: 'e1' });
    await wakeUps.scan();
    await wakeUps.scan();
    expect(told.splice(0)).toEqual(['default']);
    await swarm.addInput(address, { seq: 2, eventId: 'e2' });
    await wakeUps.scan();
    expect(told.splice(0)).toEqual(['default']);
    await cancel(address, 1);
    await wakeUps.scan();
    await wakeUps.scan();
    expect(told.splice(0)).toEqual(['default']);
    await swarm.database.query('update gdn_inbox set pending = false where swarm = $1 and seq = 1', [swarm.swarm]);
    await cancel(address, 2);
    await wakeUps.scan();
    expect(told).toEqual(['default']);
  });

  test('S-03 tells again of input that stays pending for long, and of all input after a new claim', async () => {
    const node = await swarm.join('one');
    const { wakeUps, told } = open(node);
    await node.claim(address);
    await swarm.addInput(address, { seq: 1, eventId: 'e1' });
    for (let scans = 0; scans < 31; scans += 1) await wakeUps.scan();
    expect(told.splice(0)).toEqual(['default', 'default']);
    await node.release(address);
    await node.claim(address);
    await wakeUps.scan();
    expect(told).toEqual(['default']);
  });

  test('does not tell of events that the node accepted itself, if it knows those before', async () => {
    const node = await swarm.join('one');
    const { wakeUps, told } = open(node);
    await node.claim(address);
    await swarm.addInput(address, { seq: 1, eventId: 'e1' });
    await wakeUps.scan();
    await swarm.addInput(address, { seq: 2, eventId: 'e2' });
    wakeUps.accepted(address, 2);
    await wakeUps.scan();
    expect(told).toEqual(['default']);
    await swarm.addInput(address, { seq: 3, eventId: 'e3' });
    await swarm.addInput(address, { seq: 4, eventId: 'e4' });
    wakeUps.accepted(address, 4);
    await wakeUps.scan();
    expect(told).toEqual(['default', 'default']);
  });

  test('S-03 takes over input of an ended node, and leaves that of a living one', async () => {
    const [ended, living, taker] = [await swarm.join('one'), await swarm.join('two'), await swarm.join('three')];
    const { wakeUps, told } = open(taker);
    await ended.claim(at('a'));
    await living.claim(at('b'));
    for (const key of ['a', 'b', 'c']) await swarm.addInput(at(key), { seq: 1, eventId: key });
    await wakeUps.scan();
    await until(() => told.length > 0);
    expect(told.splice(0)).toEqual(['c']);
    await swarm.endLease(ended);
    await wakeUps.scan();
    await until(() => told.includes('a'));
    expect(told).not.toContain('b');
    expect([taker.owns(at('a')), taker.owns(at('b'))]).toEqual([true, false]);
  });

  test('S-02 S-03 three nodes take over 60 instances of a dead one, each instance once', async () => {
    const dead = await swarm.join('dead');
    const keys = Array.from({ length: 60 }, (_, number) => `k${number}`);
    for (const key of keys) {
      await dead.claim(at(key));
      await swarm.addInput(at(key), { seq: 1, eventId: key });
    }
    const nodes = [await swarm.join('one'), await swarm.join('two'), await swarm.join('three')];
    const all = nodes.map((node) => open(node));
    await swarm.endLease(dead);
    await Promise.all(all.map(({ wakeUps }) => wakeUps.scan()));
    await until(() => all.flatMap(({ told }) => told).length >= keys.length);
    for (const { wakeUps } of all) await wakeUps.close();
    expect(all.flatMap(({ told }) => told).toSorted()).toEqual(keys.toSorted());
  });

  test('S-03 claims again an instance whose claim got no answer', async () => {
    const node = await swarm.join('one');
    const { wakeUps, told } = open(node);
    await node.claim(address);
    await swarm.addInput(address, { seq: 1, eventId: 'e1' });
    node.forget(address);
    await wakeUps.scan();
    await until(() => told.length > 0);
    expect(node.owns(address)).toBe(true);
  });

  test('leaves refused agents and, at a draining node, all instances to others', async () => {
    const [node, other] = [await swarm.join('one'), await swarm.join('two')];
    const { wakeUps, told } = open(node);
    node.refuseAgents(new Set(['coder']));
    await swarm.addInput(address, { seq: 1, eventId: 'e1' });
    await wakeUps.scan();
    node.refuseAgents(new Set());
    let drained = 0;
    node.onDrain(() => (drained += 1));
    await other.drain('one');
    await wakeUps.scan();
    await wakeUps.scan();
    expect([told, drained]).toEqual([[], 1]);
    expect(await other.claim(address)).toBe(true);
  });

  test('tells of the deployed bundle', async () => {
    const { wakeUps, told } = open(await swarm.join('one'));
    await swarm.database.query(`insert into gdn_swarm (swarm, deployed) values ($1, 'abc')`, [swarm.swarm]);
    await wakeUps.scan();
    expect(told).toEqual(['deployed abc']);
  });

  test('is one statement, with its claims one each', async () => {
    const database = countStatements(swarm.database);
    const node = await swarm.join('one', { database });
    const { wakeUps, told } = open(node, { database });
    const other = await swarm.join('two');
    await other.claim(at('d'));
    for (const key of ['a', 'b', 'c', 'd']) await swarm.addInput(at(key), { seq: 1, eventId: key });
    database.take();
    await wakeUps.scan();
    await until(() => told.length === 3);
    expect(database.take()).toHaveLength(4);
    await wakeUps.scan();
    expect(database.take()).toHaveLength(1);
  });

  test('S-03 claims at most eight instances at a time', async () => {
    let [under, most] = [0, 0];
    const work = { ...swarm.database };
    work.query = async (statement, values) => {
      under += 1;
      most = Math.max(most, under);
      return swarm.database.query<never>(statement, values).finally(() => void (under -= 1));
    };
    const { wakeUps, told } = open(await swarm.join('one', { work }));
    for (let key = 0; key < 30; key += 1) await swarm.addInput(at(`${key}`), { seq: 1, eventId: `${key}` });
    await wakeUps.scan();
    await until(() => told.length === 30);
    expect(most).toBe(8);
  });

  test('reads the pending input, and not the conversations', async () => {
    await swarm.database.query(
      `insert into gdn_instance (swarm, agent, key, last_input, handled) select $1, 'coder', n::text, 9, 9 from generate_series(1, 20000) n`,
      [swarm.swarm],
    );
    await swarm.addInput(at('20001'), { seq: 1, eventId: 'e1' });
    await swarm.database.query('analyze gdn_instance');
    await swarm.database.query('analyze gdn_inbox');
    const plan = await swarm.database.query<{ readonly 'QUERY PLAN': string }>(
      `explain (analyze, costs off, timing off, summary off) ${SCAN}`,
      [swarm.swarm, 'node'],
    );
    const text = plan.map((row) => row['QUERY PLAN']).join('\n');
    expect(text).not.toContain('Seq Scan on gdn_instance');
    expect(text).toMatch(/Index (Only )?Scan using gdn_instance_pkey on gdn_instance i \(actual rows=1[ .]/);
  });

  test('goes on after errors, and reports those that are not about a store that is away', async () => {
    const node = await swarm.join('one');
    let failures = 2;
    const database = { ...swarm.database };
    database.query = (statement, values) =>
      failures-- > 0 ? swarm.database.query('select nothing') : swarm.database.query(statement, values);
    const reported: string[] = [];
    const { wakeUps, told } = open(node, { database, scanMs: 1, report: ({ code }) => void reported.push(code) });
    await swarm.addInput(address, { seq: 1, eventId: 'e1' });
    wakeUps.start();
    await until(() => told.length > 0);
    expect(reported).toEqual(['E_STORE_SCHEMA', 'E_STORE_SCHEMA']);
  });
});

/** Sends hints until one is heard. All hints that were sent before are heard then, too. */
async function untilHeard(told: string[]): Promise<void> {
  await until(async () => {
    await swarm.database.query(`select pg_notify($1, '["approval"]')`, [swarm.channel]);
    return told.includes('approval');
  });
}

describe.each([true, false])('wake-ups with NOTIFY: %p', (hasNotify) => {
  /** Without NOTIFY, only the scan can tell. With it, no scan comes in time. */
  const options = () => (hasNotify ? { channel: swarm.channel } : { scanMs: 20 });

  test('S-03 reach the owner of an instance', async () => {
    const node = await swarm.join('one');
    await node.claim(address);
    const told = await openListening(node);
    await swarm.addInput(address, { seq: 1, eventId: 'e1' });
    await notify(['input', node.id, 'coder', 'default']);
    await until(() => told.includes('default'));
  });

  test('S-03 let the least loaded node take a new instance', async () => {
    const busy = await swarm.join('busy');
    const idle = await swarm.join('idle');
    busy.setLoad(() => 10);
    await busy.renew();
    await idle.renew();
    const told = await openListening(idle);
    await swarm.addInput(address, { seq: 1, eventId: 'e1' });
    expect(await busy.claim(address)).toBe(false);
    await until(() => told.includes('default'));
    expect(idle.owns(address)).toBe(true);
  });

  test('S-03 take a released instance with input to another node', async () => {
    const [node, other] = [await swarm.join('one'), await swarm.join('two')];
    await node.claim(address);
    await swarm.addInput(address, { seq: 1, eventId: 'e1' });
    const told = await openListening(other);
    await node.release(address);
    await until(() => told.includes('default'));
    expect(other.owns(address)).toBe(true);
  });

  test('S-03 take the instances of a node that left to another node', async () => {
    const [node, other] = [await swarm.join('one'), await swarm.join('two')];
    await node.claim(address);
    await swarm.addInput(address, { seq: 1, eventId: 'e1' });
    const told = await openListening(other);
    await node.leave();
    await until(() => told.includes('default'));
  });

  test('reach a node that is asked to drain', async () => {
    const [node, other] = [await swarm.join('one'), await swarm.join('two')];
    await openListening(node);
    let drained = 0;
    node.onDrain(() => (drained += 1));
    await other.drain('one');
    await until(() => drained === 1);
  });

  async function notify(payload: readonly string[]): Promise<void> {
    if (hasNotify) await swarm.database.query('select pg_notify($1, $2)', [swarm.channel, JSON.stringify(payload)]);
  }

  /** Opens wake-ups that hear everything from now on. */
  async function openListening(node: NodePlacement): Promise<string[]> {
    const { wakeUps, told } = open(node, options());
    wakeUps.start();
    if (hasNotify) await untilHeard(told);
    return told;
  }
});

describe('hints', () => {
  test('S-02 for other nodes, about lost instances and in unknown words change nothing', async () => {
    const node = await swarm.join('one');
    const { wakeUps, told } = open(node, { channel: swarm.channel });
    wakeUps.start();
    await untilHeard(told);
    told.length = 0;
    for (const payload of [
      ['input', 'node-x', 'coder', 'default'],
      ['input', node.id, 'coder', 'default'],
      ['x'],
      'x',
      [],
    ]) {
      await swarm.database.query('select pg_notify($1, $2)', [swarm.channel, JSON.stringify(payload)]);
    }
    await untilHeard(told);
    expect(told).not.toContain('default');
  });

  test('S-02 are ignored after the place was lost', async () => {
    const node = await swarm.join('one', { clock: makeTestClock() });
    const { wakeUps, told } = open(node);
    await node.claim(address);
    await swarm.addInput(address, { seq: 1, eventId: 'e1' });
    await swarm.endLease(node);
    await node.renew();
    await wakeUps.scan();
    expect(told).toEqual([]);
  });
});
