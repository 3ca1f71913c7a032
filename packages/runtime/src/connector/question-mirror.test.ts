import { describe, expect, test } from 'bun:test';
import { type ConnectorQuestion, type ConnectorReply, GoondanError, type QuestionChange } from '@goondan/types';
import { connectorLanguage } from '../ipc/codec.ts';
import { connectorDoor, type QuestionDoor, serveQuestions } from '../ipc/connector-questions.ts';
import { connectInMemory } from '../testing/connect-in-memory.ts';
import { QuestionMirror } from './question-mirror.ts';
import { until } from '../../../../test/until.ts';

const question: ConnectorQuestion = {
  ...{
    id: 'q1',
    agent: 'coder',
    instanceKey: 'k',
    turnId: 'turn-1',
    kind: 'call',
    reason: 'Why not?',
    toolName: 'pay',
  },
  ...{ args: { euros: 3 }, digest: 'd', askedAt: '2026-01-01', expiresAt: '2026-01-02' },
};
const reply: ConnectorReply = { id: 'q1', digest: 'd', decision: 'approved', by: 'ci', auth: { client: 'ci' } };
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: unknown) => (GoondanError.is(error) ? error.code : error),
  );

/** Joins both sides by a channel in memory. The test is the swarm behind it. */
function open(answer: QuestionDoor['answer'] = async () => undefined, asked: readonly QuestionChange[] = []) {
  const [parent, child] = connectInMemory(connectorLanguage);
  const thrown: unknown[] = [];
  const mirror = new QuestionMirror(connectorDoor(child), (error) => thrown.push(error));
  const served = Promise.withResolvers<(change: QuestionChange) => void>();
  serveQuestions(parent, {
    answer,
    watch(listener) {
      asked.forEach(listener);
      served.resolve(listener);
      return () => thrown.push('unwatched');
    },
  });
  return { mirror, thrown, parent, child, served: served.promise };
}

describe('the questions of a connector', () => {
  test('are listed from the question to its end, and a listener gets both', async () => {
    const { mirror, served } = open(undefined, [{ state: 'asked', question }]);
    const tell = await served;
    await until(() => mirror.list().length > 0);
    expect(mirror.list()).toEqual([question]);
    const heard: QuestionChange[] = [];
    const unwatch = mirror.watch((change) => void heard.push(change));
    tell({ state: 'asked', question: { ...question, id: 'q2' } });
    tell({ state: 'answered', question, by: 'kim' });
    await until(() => heard.length === 3);
    expect(heard.map(({ state, question: { id }, by }) => [state, id, by])).toEqual([
      ['asked', 'q1', undefined],
      ['asked', 'q2', undefined],
      ['answered', 'q1', 'kim'],
    ]);
    unwatch();
    tell({ state: 'withdrawn', question: { ...question, id: 'q2' } });
    await until(() => mirror.list().length === 0);
    expect([mirror.list(), heard.length]).toEqual([[], 3]);
  });

  test('a listener that throws is reported, and the others hear the change', async () => {
    const { mirror, thrown, served } = open();
    const heard: string[] = [];
    mirror.watch(() => {
      throw new Error('a listener');
    });
    mirror.watch(({ state }) => void heard.push(state));
    (await served)({ state: 'asked', question });
    await until(() => heard.length > 0);
    expect([heard, thrown]).toEqual([['asked'], [expect.objectContaining({ message: 'a listener' })]]);
  });

  test('N-04 an answer arrives as it was given, and a refusal comes back with its code', async () => {
    const got: ConnectorReply[] = [];
    const { mirror } = open(async (given) => {
      got.push(given);
      if (given.decision === 'denied') throw new GoondanError('E_QUESTION_ENDED', 'Late.');
    });
    await mirror.answer(reply);
    expect(got).toEqual([reply]);
    expect(await codeOf(mirror.answer({ ...reply, decision: 'denied' }))).toBe('E_QUESTION_ENDED');
    expect(await codeOf(mirror.answer({ ...reply, decision: 'maybe' } as unknown as ConnectorReply))).toBe(
      'E_QUESTION_REPLY',
    );
    expect(mirror.underWay).toBe(0);
  });

  test('N-04 at most 64 answers are under way', async () => {
    const { mirror } = open(() => new Promise(() => undefined));
    for (let count = 0; count < 64; count += 1) void mirror.answer(reply);
    expect(await codeOf(mirror.answer(reply))).toBe('E_CALLS_FULL');
  });

  test('a closed channel ends the watch and the answers', async () => {
    const asked = Promise.withResolvers<void>();
    const { mirror, thrown, parent } = open(() => {
      asked.resolve();
      return new Promise(() => undefined);
    });
    const answered = codeOf(mirror.answer(reply));
    await asked.promise;
    parent.close();
    expect(await answered).toBe('E_IPC_CLOSED');
    expect(thrown).toEqual(['unwatched']);
  });
});
