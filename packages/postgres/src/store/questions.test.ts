import { describe, expect, test } from '../testing/with-postgres.ts';
import { questionConformance } from '@goondan/runtime/testing';
import type { Database } from '../driver/database.ts';
import { openCutDatabase } from '../testing/cutting-proxy.ts';
import { questionOf } from '../testing/question-of.ts';
import { openTestDatabase } from '../testing/test-database.ts';
import type { ToAgent } from '../../../runtime/src/ipc/to-agent.ts';
import { Questions } from '../../../runtime/src/orchestrator/questions/questions.ts';
import { systemClock } from '../../../runtime/src/ports/clock.ts';
import { randomIds } from '../../../runtime/src/ports/ids.ts';
import { fakeEvent } from '../../../runtime/src/testing/fake-swarm.ts';
import { rejectionOf } from '../../../runtime/src/workspace/simulation/rejection-of.ts';
import { openPostgresQuestions } from './open-questions.ts';
import { PostgresQuestions } from './questions.ts';
import { until } from '../../../../test/until.ts';

const { address, database } = await openTestDatabase();
const { proxy, cut } = await openCutDatabase(address);
let swarms = 0;

function contextOf(swarm: string) {
  return { database, swarm, node: 'one', mayRepeat: () => false };
}

/** Opens questions for a suite, at as many nodes as it asks for. */
const openAt = (at: Database, mayRepeat: () => boolean) => async () => {
  const swarm = `swarm ${++swarms}`;
  const opened: PostgresQuestions[] = [];
  const open = async () => {
    const questions = await PostgresQuestions.open({ ...contextOf(swarm), database: at, mayRepeat }, { scanMs: 20 });
    opened.push(questions);
    return questions;
  };
  const seamsOf = async () => ({ questions: await open(), elsewhere: open });
  return {
    seams: await seamsOf(),
    again: seamsOf,
    end: async () => void (await Promise.all(opened.map((each) => each.close()))),
  };
};

describe('questions in PostgreSQL conform', () => {
  questionConformance(
    test,
    openAt(database, () => false),
  );
});

describe.each(['before', 'after'] as const)('S-03 questions conform when connections are cut %s statements', (when) => {
  questionConformance(test, async () => {
    proxy.cutWhen((statement) => (statement % 7 === 0 ? when : undefined));
    return openAt(cut, () => true)();
  });
});

test('a request that is made again keeps its answer', async () => {
  const { seams, end } = await openAt(database, () => false)();
  const answer = { decision: 'approved', by: 'ann', decidedAt: '2026-01-01T00:00:00.000Z' } as const;
  await seams.questions.put(questionOf('a'));
  await seams.questions.answer({ ...questionOf('a'), answer });
  await seams.questions.put(questionOf('a', { reason: 'again' }));
  expect(await seams.questions.list()).toEqual([{ ...questionOf('a'), answer }]);
  await end();
});

test('N-01 a row that is not a question is reported once, stays, and the others work at every node', async () => {
  const swarm = `swarm ${++swarms}`;
  const problems: string[] = [];
  const report = ({ code, message }: { code: string; message: string }) => void problems.push(`${code}: ${message}`);
  const node = await PostgresQuestions.open(contextOf(swarm), { scanMs: 1e6, report });
  const told: string[] = [];
  node.onChange((id) => void told.push(id));
  await node.put(questionOf('a'));
  for (const text of ['null', '{', JSON.stringify({ ...questionOf('x'), kind: 'other' })]) {
    await node.put(questionOf('x', { reason: text }));
    await database.query('update gdn_approval set record = $2 where swarm = $1 and id = $3', [swarm, text, 'x']);
    await database.query('update gdn_approval_change set record = $2 where swarm = $1 and id = $3', [swarm, text, 'x']);
    const other = await PostgresQuestions.open(contextOf(swarm), { scanMs: 1e6, report });
    expect((await other.list()).map(({ id }) => id)).toEqual(['a']);
    expect((await other.list({ agentName: 'coder', instanceKey: 'key' })).map(({ id }) => id)).toEqual(['a']);
    await other.close();
    expect(problems.splice(0)).toEqual([
      expect.stringContaining('E_QUESTION_RECORD: The record "x" in gdn_approval of'),
    ]);
  }
  const [row] = await database.query<{ n: number }>('select count(*)::int as n from gdn_approval where swarm = $1', [
    swarm,
  ]);
  const answer = { decision: 'denied', decidedAt: '2026-01-01T00:00:00.000Z' } as const;
  expect(await node.answer({ ...questionOf('a'), answer })).toBe(true);
  expect([row?.n, told.includes('a')]).toEqual([2, true]);
  await node.close();
  expect(node.put(questionOf('b'))).rejects.toMatchObject({ code: 'E_SWARM_STOPPED' });
});

test('the requests of one instance are read without all others', async () => {
  const { seams, end } = await openAt(database, () => false)();
  const [own, other] = [questionOf('a'), { ...questionOf('b'), instanceKey: 'other' }];
  for (const each of [own, other, { ...own, id: 'c', agent: 'other' }]) await seams.questions.put(each);
  const at = { agentName: own.agent, instanceKey: own.instanceKey };
  expect((await seams.questions.list(at)).map(({ id }) => id)).toEqual(['a']);
  expect(await seams.questions.list()).toHaveLength(3);
  await end();
});

test('a node that was away for more changes than are kept is told the difference', async () => {
  const swarm = `swarm ${++swarms}`;
  const [writer, away] = [
    await PostgresQuestions.open(contextOf(swarm), { scanMs: 1e6 }),
    await PostgresQuestions.open(contextOf(swarm), { scanMs: 1e6 }),
  ];
  await writer.put(questionOf('gone', { reason: 'first' }));
  const told: string[] = [];
  away.onChange((id, kept) => void told.push(`${id} ${kept?.reason ?? 'removed'}`));
  away.changed();
  await until(() => told.length === 1);
  await writer.put(questionOf('kept', { reason: 'never told' }));
  await writer.remove('gone');
  await database.query(`delete from gdn_approval_change where swarm = $1`, [swarm]);
  await writer.put(questionOf('kept', { reason: 'last' }));
  away.changed();
  await until(() => told.length >= 3);
  expect(told).toEqual(['gone first', 'gone removed', 'kept last']);
  await writer.close();
  await away.close();
});

test('S-03 an answer for always is told to the other node, and a revoked one is gone there', async () => {
  const swarm = `swarm ${++swarms}`;
  const [one, two] = [
    await PostgresQuestions.open(contextOf(swarm), { scanMs: 20 }),
    await PostgresQuestions.open(contextOf(swarm), { scanMs: 20 }),
  ];
  const at = { agentName: 'coder', instanceKey: 'key' };
  const nodeOf = async (store: PostgresQuestions, said: ToAgent[]) =>
    new Questions({
      ...{ clock: systemClock, ids: randomIds, store, requests: await store.list(), maskFor: () => (text) => text },
      ...{ say: (_, message) => void said.push(message), tell: () => undefined, report: () => undefined },
      events: { decided: () => undefined, waitsChanged: () => undefined },
      nodes: { isOwned: () => said === heard, list: (whose) => store.list(whose) },
    });
  const heard: ToAgent[] = [];
  const [owner, door] = [await nodeOf(one, heard), await nodeOf(two, [])];
  const ask = (callId: string) =>
    owner.ask(at, fakeEvent('go', { id: callId }), {
      ...{ type: 'question.ask', callId, key: callId, toolCallId: callId, toolName: 'bash', kind: 'call' },
      ...{ args: { callId }, fingerprint: 'f', reason: 'Why not?', expiresInMs: 60_000 },
    });
  ask('first');
  await until(() => door.pending().length === 1);
  const id = door.pending()[0]?.id ?? '';
  await door.answer({ id, decision: 'approved', by: 'ann', always: 'tool' });
  await until(() => owner.grants.list().length === 1);
  owner.turnFinished(at, { event: fakeEvent('go', { id: 'first' }) });
  ask('second');
  await until(() => heard.length === 2);
  expect(heard[1]).toMatchObject({ callId: 'second', outcome: { answer: { decision: 'approved', grant: id } } });
  await door.grants.revoke({ id, by: 'bob' });
  ask('third');
  await until(() => door.pending().length === 1);
  expect([heard.length, owner.grants.list(), (await one.list()).length]).toEqual([2, [], 1]);
  owner.close();
  door.close();
  await one.close();
  await two.close();
});

test('N-01 a question is answered from the store without a node, and a node that runs hears of it', async () => {
  const swarm = `swarm ${++swarms}`;
  const node = await PostgresQuestions.open(contextOf(swarm), { scanMs: 20 });
  await node.put(questionOf('a'));
  const told: string[] = [];
  node.onChange((id, kept) => void told.push(`${id} ${kept?.answer?.by}`));
  const opened = await openPostgresQuestions({ address, swarm });
  expect((await opened.questions()).map(({ id }) => id)).toEqual(['a']);
  await opened.answer({ id: 'a', decision: 'approved', by: 'ann', via: 'disk', always: 'tool' });
  const twice = await rejectionOf(opened.answer({ id: 'a', decision: 'denied', by: 'bob' }));
  expect(twice).toMatchObject({ code: 'E_QUESTION_ENDED' });
  await until(() => told.length === 1);
  expect([told, (await opened.grants()).map(({ by }) => by)]).toEqual([['a ann'], ['ann']]);
  expect(await node.findRemoved('a')).toBeUndefined();
  await opened.revoke({ id: 'a', by: 'ann' });
  expect(await node.list()).toEqual([]);
  // The store still has the changes, so that it knows what became of a question that a turn has taken, or somebody revoked.
  for (const late of [opened.revoke({ id: 'a', by: 'bob' }), opened.answer({ id: 'a', decision: 'denied', by: 'bob' })])
    expect(await rejectionOf(late)).toMatchObject({
      code: 'E_QUESTION_ENDED',
      message: 'The question "a" was answered for always by ann via disk, which was revoked already.',
    });
  await node.put(questionOf('b'));
  await opened.answer({ id: 'b', decision: 'approved', by: 'ann', via: 'disk' });
  await node.remove('b');
  expect(await rejectionOf(opened.answer({ id: 'b', decision: 'denied', by: 'bob' }))).toMatchObject({
    code: 'E_QUESTION_ENDED',
    message: 'The question "b" was answered by ann via disk already.',
  });
  const never = opened.answer({ id: 'never', decision: 'denied', by: 'bob' });
  expect(await rejectionOf(never)).toMatchObject({ code: 'E_QUESTION_UNKNOWN' });
  await opened.close();
  await node.close();
});
