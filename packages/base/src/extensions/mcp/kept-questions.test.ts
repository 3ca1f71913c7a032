// Tests the two ends of a question that a keeper passes to the process of its caller.
import { expect, test } from 'bun:test';
import type { JsonObject } from '@goondan/types';
import { CallerQuestions } from './caller-questions.ts';
import { KeptQuestions } from './kept-questions.ts';
import { readAnswer, type ServerQuestion } from './server-question.ts';

const question: ServerQuestion = { mode: 'form', message: 'Which?', requestedSchema: {} };

test('N-04 a keeper withdraws a question that its server no longer needs, and says so to the caller', async () => {
  const sent: JsonObject[] = [];
  const questions = new CallerQuestions((frame) => (sent.push(frame), true));
  const withdrawing = new AbortController();
  const answer = questions.ask(7, question, withdrawing.signal);
  withdrawing.abort();
  expect(await answer).toEqual({ action: 'cancel' });
  expect(sent.at(-1)).toEqual({ id: 7, withdrawn: 1 });
  // An answer that comes too late is no answer.
  questions.take({ answer: 1, value: { action: 'accept' } });
  expect(await questions.ask(7, question, withdrawing.signal)).toEqual({ action: 'cancel' });
});

test('a question that is too long for a message fails, and does not wait', async () => {
  const questions = new CallerQuestions(() => false);
  const refused = await questions.ask(7, question, new AbortController().signal).catch((error: unknown) => error);
  expect(String(refused)).toContain('its question is');
});

test.each([
  ['the server withdraws it', (questions: KeptQuestions) => questions.withdraw(7, 1)],
  ['its call ends', (questions: KeptQuestions) => questions.end(7)],
])('N-04 the person of a caller is no longer asked when %s', async (_, act) => {
  const questions = new KeptQuestions();
  const signals: AbortSignal[] = [];
  const onQuestion = (_asked: ServerQuestion, signal: AbortSignal) => (
    signals.push(signal),
    new Promise<never>(() => {})
  );
  void questions.answer(7, { number: 1, ...question }, onQuestion, () => true);
  void questions.answer(8, { number: 1, ...question }, onQuestion, () => true);
  act(questions);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
});

test('N-04 the reason of a person who declined reaches the keeper', async () => {
  const sent: JsonObject[] = [];
  const declined = { action: 'decline', note: 'not today' } as const;
  const send = (frame: JsonObject) => sent.push(frame) > 0;
  await new KeptQuestions().answer(7, { number: 1, ...question }, async () => declined, send);
  expect(sent).toEqual([{ answer: 1, value: { ...declined } }]);
  expect(readAnswer(sent[0]?.value)).toEqual(declined);
});

test('N-04 a question outside of a call fails, and nobody is asked', async () => {
  const sent: JsonObject[] = [];
  await new KeptQuestions().answer(7, { number: 1, ...question }, undefined, (frame) => sent.push(frame) > 0);
  expect(sent).toMatchObject([{ answer: 1, failed: { kind: 'question' } }]);
});

test.each([undefined, null, 'accept', {}, { action: 'maybe' }])('N-04 %j of a caller is no answer', (value) => {
  expect(readAnswer(value as never)).toEqual({ action: 'cancel' });
});
