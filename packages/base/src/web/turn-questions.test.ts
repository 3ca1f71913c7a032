import { expect, test } from 'bun:test';
import type { ConnectorQuestion, QuestionChange } from '@goondan/types';
import { AskingSwarm } from '../testing/asking-swarm.ts';
import { askUntilQuestion, isOfClient } from './turn-questions.ts';

test('N-04 a request gets the questions of its own turn only', async () => {
  const swarm = new AskingSwarm([{}, {}]);
  const seam = { ask: swarm.ask, questions: swarm };
  const own = await askUntilQuestion(seam, { name: 'one', id: 'one', input: 'Pay 1' }, {});
  const other = await askUntilQuestion(seam, { name: 'two', id: 'two', input: 'Pay 2' }, {});
  const shown = [own, other].map((each) => ('questions' in each ? each.questions.map(({ id }) => id) : each));
  expect(shown).toEqual([['q1'], ['q2']]);
});

test('N-04 the end of a question does not end a wait, and a wait that is over hears nothing', async () => {
  const listeners = new Set<(change: QuestionChange) => void>();
  const acceptance = { turnId: 'turn-1' } as never;
  const ended = { state: 'answered', question: { id: 'q1', turnId: 'turn-1' } as ConnectorQuestion } as const;
  const questions = {
    isAllowed: true,
    list: () => [],
    answer: async () => undefined,
    watch: (listener: (change: QuestionChange) => void) => (
      listeners.add(listener),
      () => void listeners.delete(listener)
    ),
  };
  const left: (boolean | undefined)[] = [];
  const answer = await askUntilQuestion(
    {
      questions,
      async ask(_event, options = {}) {
        options.onAccepted?.(acceptance);
        for (const listener of listeners) listener(ended);
        left.push(options.left?.aborted);
        return { response: 'the answer' } as never;
      },
    },
    { name: 'one' },
    {},
  );
  expect([answer, left, listeners.size] as unknown).toEqual([{ response: 'the answer' }, [false], 0]);
});

test.each([[[]], [['passed']]])(
  'N-04 a wait goes on if somebody else answers the question at once; %j were passed',
  async (passed) => {
    const acceptance = { turnId: 'turn-1' } as never;
    const asked = (id: string) => ({ id, turnId: 'turn-1' }) as ConnectorQuestion;
    const ends = [['asked', 'answered'], []] as const;
    let asks = 0;
    const accepted: unknown[] = [];
    const answer = await askUntilQuestion(
      {
        questions: {
          isAllowed: true,
          list: () => passed.map(asked),
          answer: async () => undefined,
          // The questions that wait are delivered first, and the channel of the process can deliver both changes at once.
          watch(listener) {
            if (asks > 2) throw new Error('It asks again and again.');
            for (const id of passed) listener({ state: 'asked', question: asked(id) });
            for (const state of ends[asks] ?? []) listener({ state, question: asked('q1') });
            asks += 1;
            return () => undefined;
          },
        },
        async ask(_event, { onAccepted, left } = {}) {
          onAccepted?.(acceptance);
          left?.throwIfAborted();
          return { response: 'the answer' } as never;
        },
      },
      { name: 'one', id: 'one' },
      { onAccepted: (each) => void accepted.push(each) },
      passed,
    );
    expect([answer, asks, accepted] as unknown).toEqual([{ response: 'the answer' }, 2, [acceptance]]);
  },
);

test('N-04 nobody without a token is the client of a question, whoever began its turn', () => {
  const question = { id: 'q1' } as ConnectorQuestion;
  expect(isOfClient(question, undefined)).toBe(false);
  expect(isOfClient({ ...question, auth: {} }, undefined)).toBe(false);
  expect(isOfClient({ ...question, auth: { client: 'ci' } }, 'ci')).toBe(true);
});
