import { describe, expect, test } from 'bun:test';
import type { QuestionRecord } from '../questions/question-record.ts';
import { memoryQuestions, MemorySwarm } from '../testing/conformance/memory-seams.ts';
import { fakeQuestion } from '../testing/fake-control.ts';
import { manualClock } from '../testing/manual-clock.ts';
import { rejectionOf } from '../workspace/simulation/rejection-of.ts';
import { storedQuestions } from './stored-questions.ts';

const asked = (id: string, more: Partial<QuestionRecord> = {}): QuestionRecord => ({
  ...{ ...fakeQuestion, id, key: id, expiresAt: '9999-01-01T00:00:00.000Z' },
  ...more,
});
const yes = { decision: 'approved', by: 'ann', via: 'disk' } as const;

async function open(...records: readonly QuestionRecord[]) {
  const store = memoryQuestions(new MemorySwarm());
  for (const { answer, ...record } of records) {
    await store.put(record);
    if (answer !== undefined) await store.answer({ ...record, answer });
  }
  return { store, ...storedQuestions(store, manualClock()) };
}

describe('questions that are answered while no swarm runs', () => {
  test('N-01 are listed without the key, answered once, and stored with the person and the door', async () => {
    const { questions, answer, store } = await open(
      asked('a'),
      asked('late', { expiresAt: '2000-01-01T00:00:00.000Z' }),
    );
    expect((await questions()).map((each) => [each.id, 'key' in each])).toEqual([['a', false]]);
    await answer({ id: 'a', digest: fakeQuestion.digest, ...yes, args: { command: 'ls' } });
    expect((await store.list())[0]?.answer).toMatchObject({ ...yes, args: { command: 'ls' } });
    expect(await questions()).toEqual([]);
    const codes: unknown[] = [];
    for (const id of ['a', 'late', 'never'])
      codes.push(((await rejectionOf(answer({ id, ...yes }))) as { code: string }).code);
    expect(codes).toEqual(['E_QUESTION_ENDED', 'E_QUESTION_ENDED', 'E_QUESTION_UNKNOWN']);
  });

  test('N-01 are checked as in a running swarm', async () => {
    const { answer, store } = await open(asked('a'));
    for (const [more, code] of [
      [{ digest: 'other' }, 'E_QUESTION_CHANGED'],
      [{ content: {} }, 'E_QUESTION_REPLY'],
      [{ by: '' }, 'E_QUESTION_REPLY'],
    ] as const)
      expect(await rejectionOf(answer({ id: 'a', ...yes, ...more }))).toMatchObject({ code });
    const busy = storedQuestions({ ...store, answer: async () => false }, manualClock());
    expect(await rejectionOf(busy.answer({ id: 'a', ...yes }))).toMatchObject({ code: 'E_QUESTION_ENDED' });
    expect((await store.list())[0]?.answer).toBeUndefined();
  });

  test('N-01 that somebody else answers meanwhile say who did', async () => {
    const { store } = await open(asked('a'));
    const { answer } = storedQuestions(
      {
        ...store,
        async answer(record) {
          await store.answer({ ...record, answer: { ...record.answer, by: 'bob', via: 'chat' } });
          return store.answer(record);
        },
      },
      manualClock(),
    );
    expect(await rejectionOf(answer({ id: 'a', ...yes }))).toMatchObject({
      message: 'The question "a" was answered by bob via chat already.',
    });
  });

  test('Y-04 an answer about a budget also answers the same question of other conversations', async () => {
    const budget = { kind: 'budget', digest: 'b' } as const;
    const { answer, store } = await open(
      asked('a', budget),
      asked('b', { ...budget, instanceKey: 'two' }),
      asked('c', { ...budget, digest: 'c' }),
    );
    await answer({ id: 'a', ...yes });
    expect((await store.list()).map((each) => each.answer?.by)).toEqual(['ann', 'ann', undefined]);
  });

  test('an answer for always also answers the open questions that it allows, unless they are late', async () => {
    const tool = { fingerprint: 'f1' } as const;
    const { answer, store } = await open(
      ...[asked('a', tool), asked('b', { ...tool, digest: 'b' }), asked('c', { fingerprint: 'f2' })],
      asked('late', { ...tool, expiresAt: '2000-01-01T00:00:00.000Z' }),
    );
    await answer({ id: 'a', ...yes, always: 'tool' });
    const answers = (await store.list()).map((each) => each.answer);
    expect(answers.map((each) => [each?.by, each?.always, each?.grant])).toEqual([
      ['ann', 'tool', undefined],
      ['ann', undefined, 'a'],
      ...[
        [undefined, undefined, undefined],
        [undefined, undefined, undefined],
      ],
    ]);
  });

  test('answers for always are listed, limited and revoked', async () => {
    const given = { ...yes, decidedAt: fakeQuestion.askedAt, always: 'tool' } as const;
    const full = Array.from({ length: 64 }, (_, n) => asked(`g${n}`, { answer: given }));
    const { answer, grants, revoke } = await open(...full, asked('a'), asked('b', { instanceKey: 'two' }));
    expect(await rejectionOf(answer({ id: 'a', ...yes, always: 'tool' }))).toMatchObject({ code: 'E_QUESTION_REPLY' });
    // A question that waits is no answer for always, and stays.
    expect(await rejectionOf(revoke({ id: 'a', by: 'ann' }))).toMatchObject({ code: 'E_QUESTION_UNKNOWN' });
    await revoke({ id: 'g0', by: 'ann' });
    expect(await rejectionOf(revoke({ id: 'g0', by: 'ann' }))).toMatchObject({ code: 'E_QUESTION_UNKNOWN' });
    await answer({ id: 'a', ...yes, always: 'tool' });
    await answer({ id: 'b', ...yes, always: 'tool' });
    expect(await grants()).toHaveLength(65);
  });
});
