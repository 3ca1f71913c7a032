import { expect, test } from 'bun:test';
import { createColors } from '../colors.ts';
import { describeGrant } from './describe-grant.ts';

test('an answer for always shows as much of its arguments as a question does', () => {
  const grant = {
    ...{
      id: '3fa9c1d2',
      agent: 'helper',
      instanceKey: 'default',
      toolName: 'bash__exec',
      always: 'arguments' as const,
    },
    ...{ reason: 'It runs.', by: 'ann', via: 'chat', decidedAt: '2026-01-01T00:00:00Z' },
  };
  const linesOf = (command: string) =>
    describeGrant({ ...grant, args: { command } }, createColors(false), false).split('\n');
  expect(linesOf('ls\u202e')).toEqual([
    '3fa9c1d2  helper (default): every call of bash__exec with exactly these arguments',
    '    {"command":"ls\\u202e"}',
    '    allowed by ann via chat, 2026-01-01T00:00:00Z',
    '',
  ]);
  const [, long = ''] = linesOf('x'.repeat(200_000));
  expect(long.length).toBeLessThan(4_200);
  expect(long).toEndWith('… and 196014 characters more: see them with `gdn approve --json`');
});
