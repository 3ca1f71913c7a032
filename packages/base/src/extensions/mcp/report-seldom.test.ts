import { expect, test } from 'bun:test';
import { reportSeldom } from './report-seldom.ts';

test('a server that asks without end does not fill the log, and is reported again in the next minute', () => {
  let now = 0;
  const reported: string[] = [];
  const report = reportSeldom((problem) => void reported.push(problem), {
    elapsed: () => now,
    after: () => () => undefined,
  });
  for (let count = 0; count < 10_000; count += 1) report('it asked.');
  expect(reported).toHaveLength(21);
  expect(reported.at(-1)).toContain('no further one is reported');
  now = 59_999;
  report('it asked.');
  expect(reported).toHaveLength(21);
  now = 60_000;
  report('it asked again.');
  expect(reported.slice(21)).toEqual(['it asked again.']);
});
