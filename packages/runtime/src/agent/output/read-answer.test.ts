import { expect, test } from 'bun:test';
import { boundProblems } from './read-answer.ts';

test('Y-01 a model gets ten problems of its answer at most, each with a limited length', () => {
  const problems = Array.from({ length: 12 }, (_, number) => `${number} `.repeat(200));
  const bounded = boundProblems(problems);
  expect([bounded.length, bounded.at(-1)]).toEqual([11, '2 more']);
  for (const problem of bounded) expect(problem.length).toBeLessThanOrEqual(300);
  expect(boundProblems(['one'])).toEqual(['one']);
});
