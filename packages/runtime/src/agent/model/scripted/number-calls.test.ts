import { expect, test } from 'bun:test';
import type { ModelMessage } from '@goondan/types';
import { findLastCallNumber } from './number-calls.ts';

const calls = (...ids: string[]): ModelMessage => ({
  role: 'assistant',
  content: [
    { type: 'text', text: 'call_99' },
    ...ids.map((toolCallId) => ({ type: 'tool-call' as const, toolCallId, toolName: 'x__y', input: {} })),
  ],
});

test.each<[name: string, messages: ModelMessage[], number: number]>([
  ['no messages', [], 0],
  ['no calls', [{ role: 'assistant', content: 'call_99' }, calls()], 0],
  ['the newest', [calls('call_1'), { role: 'user', content: 'x' }, calls('call_2', 'call_3'), calls()], 3],
  ['the newest of its own form', [calls('call_4'), calls('toolu_9', 'call_9x', 'call_12345678901234567890')], 4],
])('findLastCallNumber: %s', (_, messages, number) => {
  expect(findLastCallNumber(messages)).toBe(number);
});

test('findLastCallNumber reads nothing before the newest call', () => {
  const messages = [calls('call_1'), calls('call_2'), calls('call_3')];
  Object.defineProperty(messages, 0, {
    get: () => {
      throw new Error('read');
    },
  });
  expect(findLastCallNumber(messages)).toBe(3);
});
