import { expect, test } from 'bun:test';
import { fakeQuestion } from '../../testing/fake-control.ts';
import { EndedQuestions } from './ended-questions.ts';

test('an ended question is remembered without its long parts, until 1024 later ones have ended', () => {
  const questions = new EndedQuestions();
  const long = 'x'.repeat(1_000);
  const add = (id: string) => {
    const question = { ...fakeQuestion, id, args: { long }, schema: { description: long } };
    questions.add(question, { how: 'answered', by: 'ann' });
  };
  add('first');
  expect(questions.get('first')).toMatchObject({ question: { id: 'first', args: {} }, ended: { by: 'ann' } });
  expect(JSON.stringify(questions.get('first'))).not.toContain(long);
  for (let number = 0; number < 1_023; number += 1) add(`q${number}`);
  expect(questions.get('first')).toBeDefined();
  add('last');
  expect(questions.get('first')).toBeUndefined();
});
