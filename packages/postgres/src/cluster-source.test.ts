import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from './testing/with-postgres.ts';
import type { ClusterStore } from '@goondan/runtime/history';
import type { AgentAddress, AgentEvent } from '@goondan/types';
import { fakeEvent } from '../../runtime/src/testing/fake-swarm.ts';
import { postgresSource, type PostgresSourceOptions } from './cluster-source.ts';
import { openDatabase } from './driver/database.ts';
import { codeOf } from './testing/code-of.ts';
import { makeTestDatabase, type TestDatabase } from './testing/test-database.ts';
import { questionOf } from './testing/question-of.ts';
import { makeTestClock } from './testing/test-swarm.ts';
import { until } from '../../../test/until.ts';

const address: AgentAddress = { agentName: 'coder', instanceKey: 'default' };
const caller: AgentAddress = { agentName: 'lead', instanceKey: 'default' };

const eventOf = (id: string, more: Partial<AgentEvent> = {}) => fakeEvent(`input of ${id}`, { id, ...more });

let made: TestDatabase;
/** A database without NOTIFY: a statement that sends one fails. */
let silent: TestDatabase;
let swarms = 0;
let swarm: string;
const opened: ClusterStore[] = [];
const problems: string[] = [];
beforeAll(async () => {
  made = await makeTestDatabase();
  silent = await makeTestDatabase();
  await refuseNotify(silent);
});
afterAll(async () => void (await Promise.all([made.drop(), silent.drop()])));
beforeEach(() => {
  swarm = `swarm ${++swarms}`;
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  expect(problems.splice(0)).toEqual([]);
});

async function join(name: string, options: Partial<PostgresSourceOptions> = {}): Promise<ClusterStore> {
  const report = (problem: string) => void problems.push(problem);
  const source = postgresSource({ address: made.address, swarm, leaseMs: 60_000, ...options });
  const store = await source.join({ name, start: `start of ${name}`, version: '0.1.0' }, report);
  opened.push(store);
  return store;
}

async function refuseNotify({ address: at }: TestDatabase): Promise<void> {
  const database = openDatabase(at, { connections: 1 });
  await database.query(`create function public.pg_notify(text, text) returns void language plpgsql
as $$ begin raise exception 'This database has no NOTIFY'; end $$`);
  const [row] = await database.query<{ readonly name: string }>('select current_database() as name');
  await database.query(`alter database ${row?.name} set search_path = public, pg_catalog`);
  await database.close();
}

const withoutNotify = ({ address: at }: TestDatabase) => `${at}${at.includes('?') ? '&' : '?'}notify=false`;

/** Writes a frame as a turn does: the log of the store does not look into it. */
function frame(seq: number, isDurable: boolean) {
  return { seq, last: seq, line: `line ${seq}`, isDurable };
}

function wakesOf(store: ClusterStore): string[] {
  const woken: string[] = [];
  store.inbox.onWake(({ instanceKey }) => void woken.push(instanceKey));
  return woken;
}

describe.each([true, false])('a store of several nodes, with NOTIFY: %p', (notify) => {
  const options = () => (notify ? { scanMs: 3_600_000 } : { scanMs: 50, address: withoutNotify(silent) });

  test('S-03 brings input that one node accepted to the node that owns the instance', async () => {
    const [one, two] = [await join('one', options()), await join('two', options())];
    const woken = wakesOf(two);
    expect(await two.placement.claim(address)).toBe(true);
    await untilTold(woken, async (number) => {
      await one.inbox.accept(address, eventOf(`e${number}`));
      expect(await one.placement.claim(address)).toBe(false);
    });
    expect((await two.inbox.pendingEntries(address))[0]?.event.id).toBe('e1');
  });

  test('brings a cancel mark to the owner', async () => {
    const [one, two] = [await join('one', options()), await join('two', options())];
    const woken = wakesOf(two);
    await two.placement.claim(address);
    await two.inbox.accept(address, eventOf('e1'));
    await untilTold(woken, () => one.inbox.cancel(address, 'e1', 'stop'));
    expect((await two.inbox.pendingEntries(address))[0]?.cancelled).toBe('stop');
  });

  test('S-03 brings the answer of a request to the node of its caller', async () => {
    const [one, two] = [await join('one', options()), await join('two', options())];
    await one.placement.claim(caller);
    await two.placement.claim(address);
    const request = eventOf('r1', {
      source: { kind: 'agent', name: 'lead' },
      replyTo: { target: 'lead', correlationId: 'c' },
      callChain: [caller],
    });
    await one.inbox.accept(address, request);
    const answers: string[] = [];
    one.calls.onAnswered((_callee, eventId, { turnId }) => void answers.push(`${eventId} ${turnId}`));
    one.calls.watch(address, 'r1');
    // The first look at a new request is over: from now on, only the hint or the next look tells.
    await new Promise((resolve) => void setTimeout(resolve, 200));
    const { epoch } = await two.log.load(address);
    const reply = JSON.stringify({
      replyTo: request.replyTo,
      result: { turnId: 'turn-r1', finishReason: 'text_response' },
    });
    const commit = {
      version: 1,
      messages: 1,
      deadLetters: 0,
      updatedAt: 1,
      handled: 1,
      answer: { eventId: 'r1', caller, reply },
    };
    await two.log.append(address, epoch, { ...frame(1, true), commit });
    await until(() => answers.length > 0);
    expect(answers[0]).toBe('r1 turn-r1');
    one.calls.forget('r1');
  });

  test('S-09 tells the nodes of a deployed bundle', async () => {
    const [one, two] = [await join('one', options()), await join('two', options())];
    const told: string[] = [];
    two.deployments.onChange(({ digest }) => void told.push(digest));
    await untilTold(told, (number) =>
      one.deployments.put({ digest: `d${number}`, bytes: new Uint8Array([number]), by: 'ann' }),
    );
    expect([...(await two.deployments.read(told[0] ?? ''))]).toHaveLength(1);
  });

  test('an approval that one node asks for reaches the others', async () => {
    const [one, two] = [await join('one', options()), await join('two', options())];
    const told: string[] = [];
    two.questions.onChange((id) => void told.push(id));
    await untilTold(told, (number) => one.questions.put(questionOf(`a${number}`)));
    expect(told[0]).toMatch(/^a\d+$/);
  });

  test('a released instance with input, and a node that drains, reach the other nodes', async () => {
    const [one, two] = [await join('one', options()), await join('two', options())];
    const woken = wakesOf(two);
    await one.placement.claim(address);
    await untilTold(woken, async (number) => {
      await one.inbox.accept(address, eventOf(`e${number}`));
      await one.placement.release(address);
    });
    const drained: string[] = [];
    two.placement.onDrain(() => void drained.push('two'));
    await untilTold(drained, () => one.placement.drain('two'));
  });

  /** Repeats the action until the other node hears of it: a node may begin to listen after the first one. */
  async function untilTold(told: readonly string[], action: (number: number) => Promise<unknown>): Promise<void> {
    let number = 0;
    await until(async () => {
      number += 1;
      await action(number);
      await new Promise((resolve) => void setTimeout(resolve, 100));
      return told.length > 0;
    });
  }
});

describe('a store of several nodes', () => {
  test('S-02 refuses the writes of a node that was overtaken, and tells it', async () => {
    const one = await join('one', { scanMs: 3_600_000 });
    await one.placement.claim(address);
    const { epoch } = await one.log.load(address);
    await one.log.append(address, epoch, frame(1, true));
    const lost: (string | undefined)[] = [];
    one.placement.onLost((error, instance) => void lost.push(error.code, instance?.agentName));
    await endLeases();
    const two = await join('two', { scanMs: 3_600_000 });
    expect(await two.placement.claim(address)).toBe(true);
    expect(await codeOf(one.log.append(address, epoch, frame(2, true)))).toBe('E_FENCED');
    expect(lost).toEqual(['E_FENCED', 'coder']);
    expect((await two.log.load(address)).frames).toEqual(['line 1']);
  });

  test('S-02 a write under an earlier claim does not end the claim in force', async () => {
    const one = await join('one');
    await one.placement.claim(address);
    const { epoch } = await one.log.load(address);
    await one.placement.release(address);
    await one.placement.claim(address);
    const now = (await one.log.load(address)).epoch;
    await one.log.append(address, now, frame(1, false));
    expect(await codeOf(one.log.append(address, epoch, frame(1, true)))).toBe('E_FENCED');
    one.placement.check(address);
    await one.log.append(address, now, frame(2, true));
    expect((await one.log.load(address)).frames).toEqual(['line 1', 'line 2']);
  });

  test('S-03 S-04 frames in memory are written before an instance is released, and before the node leaves', async () => {
    const [one, two] = [await join('one'), await join('two')];
    for (const key of ['a', 'b']) {
      const instance = { agentName: 'coder', instanceKey: key };
      await one.placement.claim(instance);
      const { epoch } = await one.log.load(instance);
      await one.log.append(instance, epoch, frame(1, false));
      await (key === 'a' ? one.placement.release(instance) : one.placement.leave());
      expect(await two.placement.claim(instance)).toBe(true);
      expect((await two.log.load(instance)).frames).toEqual(['line 1']);
    }
  });

  test('S-03 input of a node that died is taken over after its lease, in a store with a short one', async () => {
    const clock = makeTestClock();
    const died = await join('one', { leaseMs: 500, scanMs: 3_600_000, clock });
    await died.placement.claim(address);
    await died.inbox.accept(address, eventOf('e1'));
    clock.freeze();
    const two = await join('two', { scanMs: 50 });
    const woken = wakesOf(two);
    await until(() => woken.length > 0);
    expect(codeOfCheck(died)).toBe('E_FENCED');
    expect(await two.placement.ownerOf(address)).toMatchObject({ name: 'two' });
  });

  test.each([
    ['S-10 was cut off from the database takes its end back', 58_000, 'E_FENCED', undefined],
    ['S-10 could not say that it leaves takes its end back', 0, 'nothing', undefined],
    ['R-03 stood still itself counts also', 600_000, 'E_FENCED', 1],
  ])('a node that %s when it joins again', async (_title, elapsed, code, left) => {
    const clock = makeTestClock();
    const source = postgresSource({ address: made.address, swarm, leaseMs: 60_000, clock });
    const facts = (start: number) => ({ name: 'one', start: `${start}`, version: '0.1.0' });
    const one = await source.join(facts(1));
    opened.push(one);
    await one.placement.claim(address);
    await one.inbox.accept(address, eventOf('e1'));
    const { epoch } = await one.log.load(address);
    await one.log.append(address, epoch, { ...frame(1, true), begins: 1 });
    clock.jump({ elapsed });
    expect(codeOfCheck(one)).toBe(code);
    await endLeases();
    const two = await join('two');
    expect(await two.placement.claim(address)).toBe(true);
    const takeOvers = async () => (await two.inbox.pendingEntries(address)).map((entry) => entry.takeOvers);
    expect(await takeOvers()).toEqual([1]);
    opened.push(await source.join(facts(2)));
    expect(await takeOvers()).toEqual([left]);
  });

  test('a deleted instance can be claimed again, and the node is told that it lost the old one', async () => {
    const one = await join('one');
    await one.placement.claim(address);
    await one.inbox.accept(address, eventOf('e1'));
    const lost: (string | undefined)[] = [];
    one.placement.onLost((_error, instance) => void lost.push(instance?.instanceKey));
    expect(await one.admin.delete(address, { force: true })).toEqual({ inputs: 1 });
    expect(lost).toEqual(['default']);
    expect(await one.placement.claim(address)).toBe(true);
    expect((await one.log.load(address)).frames).toEqual([]);
  });

  test('keeps descriptions, log lines and what readers need', async () => {
    const one = await join('one');
    await one.describeSwarm({ swarm: 'my swarm' });
    expect(await one.directory.exists()).toBe(true);
    expect(await one.directory.swarm()).toMatchObject({ swarm: 'my swarm' });
    await one.inbox.accept(address, eventOf('e1'));
    expect(await one.directory.instances()).toEqual([address]);
  });

  test('refuses an address that leads nowhere, and closes what it opened', async () => {
    const source = postgresSource({ address: 'postgres://postgres@127.0.0.1:1/nothing', swarm });
    const refused = codeOf(source.join({ name: 'one', start: 's', version: '1' }));
    expect(await refused).toBe('E_STORE_AWAY');
  });

  test('leaves the swarm when it is closed', async () => {
    const [one, two] = [await join('one'), await join('two')];
    await one.placement.claim(address);
    opened.splice(opened.indexOf(one), 1);
    await one.close();
    expect(await two.placement.claim(address)).toBe(true);
  });
});

function codeOfCheck(store: ClusterStore): string {
  try {
    store.placement.check();
    return 'nothing';
  } catch (error) {
    return (error as { readonly code: string }).code;
  }
}

async function endLeases(): Promise<void> {
  const database = openDatabase(made.address, { connections: 1 });
  await database.query('update gdn_node set lease_until = clock_timestamp() where swarm = $1', [swarm]);
  await database.close();
}
