import { expect, test } from 'bun:test';
import { fakeQuestion } from '../../../runtime/src/testing/fake-control.ts';
import { findQuestion } from './find-question.ts';

test('the id of a changeset finds the question about it, and no question about a tool call', () => {
  const questions = [
    { ...fakeQuestion, id: 'a1', args: { changesetId: 'c1' } },
    { ...fakeQuestion, id: 'a2', kind: 'change' as const, args: { changesetId: 'c1' } },
  ];
  expect(findQuestion(questions, 'c1')?.id).toBe('a2');
  expect(findQuestion(questions, 'a1')?.id).toBe('a1');
  expect(findQuestion(questions, 'c2')).toBeUndefined();
});
