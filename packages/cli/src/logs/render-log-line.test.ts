import { expect, test } from 'bun:test';
import type { LogLine } from '@goondan/runtime';
import { renderLogLine } from './render-log-line.ts';

const line: LogLine = {
  time: '2026-01-01T00:00:00.000Z',
  level: 'error',
  message: 'On trial: \u001b[8mhidden\u001b[31m\nin two lines\u0007',
  agent: 'host\u001b[2J',
  place: { file: 'rules.ts', line: 1, column: 2 },
  data: { stack: 'Error: \u001b[1A\n    at rules.ts:1:2' },
};

test.each([true, false])('a line of the log cannot control the terminal (at a terminal: %p)', (isWatched) => {
  const rendered = renderLogLine(line, isWatched);
  expect(rendered.split('').filter((character) => character < ' ' && character !== '\n')).toEqual([]);
  expect(rendered).toEndWith(
    'error host␛[2J: On trial: ␛[8mhidden␛[31m (rules.ts:1:2)\nin two lines␇\n  Error: ␛[1A\n      at rules.ts:1:2\n',
  );
});

test('a line of a swarm with several nodes names its node', () => {
  const { time, level } = line;
  const about = { time, level, message: 'Hi' } as const;
  expect(renderLogLine({ ...about, node: 'one', agent: 'host' }, false)).toBe(`${time} error [one] host: Hi\n`);
  expect(renderLogLine({ ...about, node: 'one' }, false)).toBe(`${time} error [one]: Hi\n`);
});
