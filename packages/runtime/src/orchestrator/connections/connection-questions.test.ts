import { describe, expect, test } from 'bun:test';
import { type ConnectorReply, GoondanError, type QuestionChange } from '@goondan/types';
import type { ConnectionPlan } from '../../config/swarm-plan.ts';
import { findReplyProblem, type EndedQuestion, type QuestionReply } from '../../questions/check-reply.ts';
import type { QuestionSummary } from '../../questions/question-record.ts';
import { ConnectionQuestions } from './connection-questions.ts';

const plan = (connection: string, answersQuestions = true): ConnectionPlan => ({
  ...{ connection, connector: 'http', root: '/bundle', entry: 'http.ts', config: {}, secrets: {}, rules: [] },
  answersQuestions,
});

const asked = (id: string, over: Partial<QuestionSummary> = {}): QuestionSummary => ({
  ...{ id, agent: 'coder', instanceKey: 'k', eventId: 'heard-1', traceId: 't', toolCallId: 'c', toolName: 'pay' },
  ...{ kind: 'call', reason: 'Why?', args: {}, digest: 'd', askedAt: '2026-01-01', expiresAt: '2026-01-02' },
  root: { connection: 'door', eventId: 'heard-1', auth: { client: 'ci' } },
  ...over,
});

const reply: ConnectorReply = { id: 'q1', digest: 'd', decision: 'approved', by: 'ci', auth: { client: 'ci' } };

/** The test acts as the questions of the swarm. */
function open(...questions: QuestionSummary[]) {
  const pending = new Map(questions.map((question) => [question.id, question]));
  const ended = new Map<string, EndedQuestion>();
  const answers: QuestionReply[] = [];
  const connections = new ConnectionQuestions({
    pending: () => [...pending.values()],
    endOf: (id) => (pending.has(id) ? undefined : (ended.get(id) ?? { how: 'withdrawn' })),
    async answer(given, mayAnswer = () => true) {
      const question = pending.get(given.id);
      const problem = findReplyProblem(
        question === undefined ? {} : { question, isForbidden: !mayAnswer(question) },
        given,
      );
      if (problem !== undefined) throw problem;
      answers.push(given);
    },
  });
  const end = (id: string, how: EndedQuestion) => {
    pending.delete(id);
    ended.set(id, how);
    connections.waitsChanged();
  };
  const add = (question: QuestionSummary) => {
    pending.set(question.id, question);
    connections.waitsChanged();
  };
  return { connections, answers, add, end };
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: unknown) => (GoondanError.is(error) ? error.code : error),
  );

describe('the questions of a connection', () => {
  test('N-04 are those of turns that its events began, from the question to its end', () => {
    const others = [
      asked('q2', { root: { connection: 'other', eventId: 'heard-1', auth: { client: 'ci' } } }),
      asked('q3', { root: undefined as never }),
    ];
    const { connections, add, end } = open(asked('q1'), ...others);
    const heard: QuestionChange[] = [];
    const unwatch = connections.doorOf(plan('door')).watch((change) => void heard.push(change));
    add(asked('q4', { agent: 'called', eventId: 'call-1' }));
    end('q1', { how: 'answered', by: 'kim', via: 'chat' });
    end('q2', { how: 'answered', by: 'kim' });
    end('q4', { how: 'expired' });
    expect(heard.map(({ state, question: { id }, by, via }) => [state, id, by, via])).toEqual([
      ['asked', 'q1', undefined, undefined],
      ['asked', 'q4', undefined, undefined],
      ['answered', 'q1', 'kim', 'chat'],
      ['expired', 'q4', undefined, undefined],
    ]);
    expect(heard[1]?.question).toMatchObject({ agent: 'called', turnId: 'turn-heard-1', auth: { client: 'ci' } });
    unwatch();
    add(asked('q5'));
    expect(heard).toHaveLength(4);
  });

  test('N-04 are not shown to a connection without the permission, which may not answer either', async () => {
    const { connections, answers } = open(asked('q1'));
    const heard: unknown[] = [];
    const door = connections.doorOf(plan('door', false));
    door.watch((change) => void heard.push(change));
    expect(await codeOf(door.answer(reply))).toBe('E_QUESTION_FORBIDDEN');
    expect(await codeOf(door.answer({ ...reply, id: 'unknown' }))).toBe('E_QUESTION_FORBIDDEN');
    expect([heard, answers]).toEqual([[], []]);
  });
});

describe('an answer through a connection', () => {
  test('N-04 has the name of the client and of the connection, whatever the connector says', async () => {
    const { connections, answers } = open(asked('q1'));
    const forged = { ...reply, by: 'boss', via: 'studio' };
    await connections.doorOf(plan('door')).answer(forged);
    expect(answers).toEqual([{ id: 'q1', digest: 'd', decision: 'approved', by: 'boss@door', via: 'http' }]);
  });

  test('N-04 is forbidden to another connection, and to another client than the one that began the turn', async () => {
    const { connections, answers } = open(asked('q1'), asked('q2', { root: { connection: 'door', eventId: 'e' } }));
    expect(await codeOf(connections.doorOf(plan('other')).answer(reply))).toBe('E_QUESTION_FORBIDDEN');
    const door = connections.doorOf(plan('door'));
    expect(await codeOf(door.answer({ ...reply, auth: { client: 'kim' } }))).toBe('E_QUESTION_FORBIDDEN');
    expect(await codeOf(door.answer({ ...reply, id: 'q2' }))).toBe('E_QUESTION_FORBIDDEN');
    expect(await codeOf(door.answer({ ...reply, id: 'q3' }))).toBe('E_QUESTION_UNKNOWN');
    expect(answers).toEqual([]);
    const { auth: _, ...byAnybody } = reply;
    await door.answer({ ...byAnybody, by: 'kim' });
    expect(answers).toMatchObject([{ id: 'q1', by: 'kim@door' }]);
  });
});
