import { expect, test } from 'bun:test';
import type { ModelMessage } from '@goondan/types';
import { LlmInput } from './llm-input.ts';

test('L-04 a message with several results is shown as several messages, and reaches the model as one', () => {
  const results = ['a', 'b'].map((toolCallId) => ({
    type: 'tool-result' as const,
    toolCallId,
    toolName: 'run',
    output: { type: 'text' as const, value: toolCallId },
  }));
  const messages: ModelMessage[] = [{ role: 'tool', content: results }];
  const input = new LlmInput(messages, () => 'm');
  expect(input.list.map(({ id }) => id)).toEqual(['m', 'm-1']);
  expect(input.read([...input.list], 'old', 'step.llmInput')).toBeUndefined();
  const more = input.read([...input.list, { id: 'x', role: 'user', content: 'hi' }], 'old', 'step.llmInput');
  expect(more).toEqual([...messages, { role: 'user', content: 'hi' }]);
});
