import { expect, test } from 'bun:test';
import type { ModelMessage } from '@goondan/types';
import { countWork } from '../../../testing/count-work.ts';
import { openUsageCounter } from './count-tokens.ts';

const messages: ModelMessage[] = [
  { role: 'system', content: 'abcd' },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'efgh' },
      { type: 'image', image: 'x'.repeat(1000) },
    ],
  },
  {
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'ij' },
      { type: 'tool-call', toolCallId: 'call_1', toolName: 'x__y', input: { a: 1 } },
    ],
  },
  {
    role: 'tool',
    content: [{ type: 'tool-result', toolCallId: 'call_1', toolName: 'x__y', output: { type: 'text', value: 'k' } }],
  },
];
const inputLength = 4 + 4 + 2 + 'x__y{"a":1}'.length + '{"type":"text","value":"k"}'.length;

test('four characters are a token, counted over the whole request', () => {
  const reply = [
    { type: 'text' as const, text: 'abcde' },
    { type: 'tool-call' as const, toolCallId: 'call_2', toolName: 'x__y', input: {} },
  ];
  const inputTokens = Math.ceil(inputLength / 4);
  expect(openUsageCounter()(messages, reply)).toEqual({ inputTokens, outputTokens: 3, totalTokens: inputTokens + 3 });
});

test('the same request counts the same again, and a new content is counted', () => {
  const count = openUsageCounter();
  const first = count(messages, []);
  expect(count(messages, [])).toEqual(first);
  const longer = messages.with(1, { role: 'user', content: [{ type: 'text', text: 'efgh'.repeat(11) }] });
  expect(count(longer, []).inputTokens).toBe(first.inputTokens + 10);
});

test('a content is converted to JSON once, however often it is sent', () => {
  let writes = 0;
  const value = {
    toJSON: () => {
      writes += 1;
      return {};
    },
  };
  const count = openUsageCounter();
  // The value has a `toJSON` function, which counts the conversions.
  const output = { type: 'json' as const, value: value as never };
  const content = [{ type: 'tool-result' as const, toolCallId: 'call_1', toolName: 'x__y', output }];
  count([{ role: 'tool', content }], []);
  count([{ role: 'tool', content }], []);
  expect(writes).toBe(1);
});

test('a longer request looks up only its new contents', async () => {
  const count = openUsageCounter();
  const history = Array.from({ length: 1000 }, (): ModelMessage => ({
    role: 'user',
    content: [{ type: 'text', text: 'abcd' }],
  }));
  count(history, []);
  const longer: ModelMessage[] = [...history, { role: 'user', content: [{ type: 'text', text: 'efgh' }] }];
  const work = await countWork(async () => count(longer, []));
  expect(work.elements).toBeLessThan(100);
  expect(count(longer, []).inputTokens).toBe(1001);
});

test('a shorter request, and one that differs in the middle, are counted as a whole', () => {
  const count = openUsageCounter();
  const texts = (...each: string[]) => each.map((content): ModelMessage => ({ role: 'user', content }));
  expect(count(texts('abcd', 'efgh', 'ijkl'), []).inputTokens).toBe(3);
  expect(count(texts('abcd'), []).inputTokens).toBe(1);
  expect(count(texts('abcd', 'x'.repeat(40), 'ijkl'), []).inputTokens).toBe(12);
  expect(count([], []).inputTokens).toBe(0);
});
