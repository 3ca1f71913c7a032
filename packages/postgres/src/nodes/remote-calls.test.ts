import { describe, expect, test } from '../testing/with-postgres.ts';
import type { AgentAddress, TurnResult } from '@goondan/types';
import { manualClock } from '../../../runtime/src/testing/manual-clock.ts';
import { PostgresQuestions } from '../store/questions.ts';
import { countStatements } from '../testing/count-statements.ts';
import { questionOf } from '../testing/question-of.ts';
import { openSwarmPerTest } from '../testing/test-swarm.ts';
import { PostgresCalls, type RemoteCallsOptions } from './remote-calls.ts';
import { until } from '../../../../test/until.ts';

const at = (agentName: string): AgentAddress => ({ agentName, instanceKey: 'default' });
const result: TurnResult = { turnId: 'turn-e1', finishReason: 'text_response' };

const opened: PostgresCalls[] = [];
const swarm = await openSwarmPerTest(async () => {
  for (const calls of opened.splice(0)) await calls.close();
});

function open(options: Partial<RemoteCallsOptions> = {}) {
  const told: string[] = [];
  const calls = new PostgresCalls({
    database: swarm.database,
    swarm: swarm.swarm,
    node: 'one',
    // Nothing is read before a test says so.
    clock: manualClock(),
    ...options,
  });
  calls.onBegan(({ agentName }, eventId) => void told.push(`${agentName} began ${eventId}`));
  calls.onAnswered(({ agentName }, eventId, { turnId }) => void told.push(`${agentName} ${eventId} ${turnId}`));
  opened.push(calls);
  return { calls, told };
}

/** `from` waits for `to`. */
function request(from: string, to: string, seq = 1): Promise<void> {
  return swarm.addInput(at(to), { seq, eventId: `${from}-${to}`, caller: at(from) });
}

async function begin(eventId: string): Promise<void> {
  await swarm.database.query('update gdn_inbox set began = true where swarm = $1 and event_id = $2', [
    swarm.swarm,
    eventId,
  ]);
}

async function answer(from: string, to: string): Promise<void> {
  const reply = JSON.stringify({ replyTo: { correlationId: 'c' }, result });
  await swarm.database.query(
    `with ended as (update gdn_inbox set pending = false where swarm = $1 and event_id = $3)
insert into gdn_answer (swarm, agent, key, event_id, seq, caller_agent, caller_key, reply)
values ($1, $2, 'default', $3, 1, $4, 'default', $5)`,
    [swarm.swarm, to, `${from}-${to}`, from, reply],
  );
}

async function ask(agent: string, expiresAt = '2999-01-01T00:00:00Z'): Promise<void> {
  const context = { database: swarm.database, swarm: swarm.swarm, node: 'one', mayRepeat: () => false };
  const questions = await PostgresQuestions.open(context, { scanMs: 3_600_000 });
  // A tool call may have any text, also one that the JSON functions of PostgreSQL refuse.
  const texts = { args: { command: 'a\0b \ud800' }, reason: '\0' };
  await questions.put(questionOf(`approval of ${agent}`, { agent, instanceKey: 'default', expiresAt, ...texts }));
  await questions.close();
}

describe('a watched request', () => {
  test('tells once that its turn began, and of the answer until it is taken', async () => {
    const { calls, told } = open();
    await request('a', 'b');
    calls.watch(at('b'), 'a-b');
    await calls.read();
    expect(told).toEqual([]);
    await begin('a-b');
    await calls.read();
    await calls.read();
    expect(told.splice(0)).toEqual(['b began a-b']);
    await answer('a', 'b');
    await calls.read();
    await calls.read();
    expect(told.splice(0)).toEqual(['b a-b turn-e1', 'b a-b turn-e1']);
    await calls.taken(at('b'), 'a-b');
    await calls.read();
    expect(told).toEqual([]);
  });

  test('S-03 keeps its answer for a caller that is taken over', async () => {
    await request('a', 'b');
    await answer('a', 'b');
    for (const { calls, told } of [open(), open()]) {
      calls.watch(at('b'), 'a-b');
      await calls.read();
      expect(told).toEqual(['b began a-b', 'b a-b turn-e1']);
      await calls.taken(at('b'), 'a-b');
    }
  });

  test('S-03 is read without hints, again and again', async () => {
    const clock = manualClock();
    const { calls, told } = open({ clock, readMs: 5 });
    const toldAfterNextRead = async () => {
      await clock.advance(5);
      await until(() => clock.pending === 1, { about: 'the end of the read' });
      return told.splice(0);
    };
    await request('a', 'b');
    calls.watch(at('b'), 'a-b');
    await begin('a-b');
    expect(await toldAfterNextRead()).toEqual(['b began a-b']);
    await answer('a', 'b');
    expect(await toldAfterNextRead()).toEqual(['b a-b turn-e1']);
    expect(await toldAfterNextRead()).toEqual(['b a-b turn-e1']);
  });

  test('costs one statement for all, and none while there is none', async () => {
    const database = countStatements(swarm.database);
    const { calls } = open({ database });
    await calls.read();
    expect(await calls.held()).toEqual([]);
    expect(database.take()).toHaveLength(0);
    for (let number = 0; number < 100; number += 1) calls.watch(at('b'), `e${number}`);
    await calls.read();
    expect(database.take()).toHaveLength(1);
  });

  test('reports an answer that cannot be read', async () => {
    const reported: string[] = [];
    const { calls, told } = open({ report: ({ code }) => void reported.push(code) });
    await request('a', 'b');
    await answer('a', 'b');
    await swarm.database.query(`update gdn_answer set reply = '[]' where swarm = $1`, [swarm.swarm]);
    calls.watch(at('b'), 'a-b');
    await calls.read();
    expect([told, reported]).toEqual([['b began a-b'], ['E_STORE_READ']]);
  });
});

describe('a callee that cannot start', () => {
  const failed: TurnResult = {
    turnId: 'turn-a-b',
    finishReason: 'error',
    error: { code: 'E_EXT_LOAD', message: 'no' },
  };
  const reply = JSON.stringify({ replyTo: { correlationId: 'c' }, result: failed });

  test('fails its requests where their callers see it, once, and cancels them', async () => {
    const [one, two] = [await swarm.join('one'), await swarm.join('two')];
    await two.claim(at('b'));
    await request('a', 'b');
    await swarm.addInput(at('b'), { seq: 2, eventId: 'of-nobody' });
    const asking = open({ node: one.id });
    asking.calls.watch(at('b'), 'a-b');
    const answers = ['a-b', 'of-nobody', 'unknown'].map((eventId) => ({ eventId, reply }));
    await asking.calls.fail(at('b'), answers);
    await asking.calls.read();
    expect(asking.told).toEqual([]);
    const { calls } = open({ node: two.id });
    await calls.fail(at('b'), answers);
    await calls.fail(at('b'), answers);
    await asking.calls.read();
    expect(asking.told).toEqual(['b a-b turn-a-b']);
    const marks = await swarm.database.query(
      'select event_id, cancelled, pending from gdn_inbox where swarm = $1 order by seq',
      [swarm.swarm],
    );
    expect(marks).toEqual([
      { event_id: 'a-b', cancelled: 'the agent could not start', pending: true },
      { event_id: 'of-nobody', cancelled: null, pending: true },
    ]);
  });
});

describe('a circle', () => {
  const namesOf = (circle: readonly AgentAddress[] | undefined) => circle?.map(({ agentName }) => agentName);

  test('is found through requests of three nodes', async () => {
    const nodes = [await swarm.join('one'), await swarm.join('two'), await swarm.join('three')] as const;
    for (const [index, name] of ['a', 'b', 'c'].entries()) await nodes[index]?.claim(at(name));
    const { calls } = open();
    await request('a', 'b');
    await request('b', 'c');
    expect(await calls.findCircle(at('b'))).toBeUndefined();
    await request('c', 'a');
    expect(namesOf(await calls.findCircle(at('c')))).toEqual(['c', 'a', 'b', 'c']);
    expect(namesOf(await calls.findCircle(at('a')))).toEqual(['a', 'b', 'c', 'a']);
    expect(await calls.findCircle(at('d'))).toBeUndefined();
  });

  test('is none through cancelled or handled requests, nor one that the instance only leads to', async () => {
    const { calls } = open();
    await request('a', 'b');
    await request('b', 'a');
    await request('d', 'a', 2);
    expect(await calls.findCircle(at('d'))).toBeUndefined();
    await swarm.database.query(`update gdn_inbox set cancelled = 'x' where swarm = $1 and event_id = 'b-a'`, [
      swarm.swarm,
    ]);
    for (const name of ['a', 'b']) expect(await calls.findCircle(at(name))).toBeUndefined();
    await request('b', 'c');
    await request('c', 'a', 3);
    expect(namesOf(await calls.findCircle(at('a')))).toEqual(['a', 'b', 'c', 'a']);
    await answer('b', 'c');
    expect(await calls.findCircle(at('a'))).toBeUndefined();
  });

  test('is found among many paths', async () => {
    const { calls } = open();
    for (let layer = 0; layer < 12; layer += 1) {
      for (const from of ['x', 'y'])
        for (const to of ['x', 'y']) await request(`${from}${layer}`, `${to}${layer + 1}`, from === 'x' ? 1 : 2);
    }
    await request('x12', 'x0');
    expect(namesOf(await calls.findCircle(at('x0')))).toHaveLength(14);
  });
});

describe('held callees', () => {
  test('wait for people, directly or through agents of other nodes', async () => {
    const { calls } = open();
    await request('a', 'b');
    await request('b', 'c');
    await request('a', 'd');
    for (const name of ['b', 'd', 'e']) calls.watch(at(name), `a-${name}`);
    expect(await calls.held()).toEqual([]);
    await ask('c');
    expect(await calls.held()).toEqual([at('b')]);
    await ask('e');
    expect((await calls.held()).toSorted((left, right) => (left.agentName < right.agentName ? -1 : 1))).toEqual([
      at('b'),
      at('e'),
    ]);
    await swarm.database.query('update gdn_approval set is_answered = true where swarm = $1', [swarm.swarm]);
    expect(await calls.held()).toEqual([]);
    await ask('d', '2000-01-01T00:00:00Z');
    expect(await calls.held()).toEqual([]);
  });

  test('are none through requests that were cancelled', async () => {
    const { calls } = open();
    await request('b', 'c');
    await ask('c');
    calls.watch(at('b'), 'a-b');
    expect(await calls.held()).toEqual([at('b')]);
    await swarm.database.query(`update gdn_inbox set cancelled = 'x' where swarm = $1`, [swarm.swarm]);
    expect(await calls.held()).toEqual([]);
  });
});
