import { expect, test } from 'bun:test';
import { answerQuestions } from './answer-questions.ts';

test('N-04 a client without a token may not answer, and has no questions', async () => {
  const answered: unknown[] = [];
  const questions = {
    isAllowed: true,
    list: () => [{ id: 'q1' }],
    answer: async (reply: unknown) => void answered.push(reply),
  };
  const send = (id: string, init: RequestInit) =>
    answerQuestions({ questions } as never, undefined, id, new Request('http://127.0.0.1/in/questions', init), {});
  const body = JSON.stringify({ decision: 'approved', digest: 'd' });
  const refused = await send('q1', { method: 'POST', body }).catch((error: unknown) => error);
  expect([refused, answered]).toEqual([expect.objectContaining({ code: 'E_QUESTION_FORBIDDEN' }), []]);
  expect(await (await send('', {})).json()).toEqual({ questions: [] });
});
