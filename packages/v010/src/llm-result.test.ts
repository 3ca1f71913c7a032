// The reply of the model as a function around the model call sees it, and as the runtime gets it back.
import { describe, expect, test } from 'bun:test';
import type { AssistantPart, ModelReply } from '@goondan/types';
import { checkLlmResult, toLlmResult, toModelReply } from './llm-result.ts';

const searched: AssistantPart = {
  type: 'tool-call',
  toolCallId: 's',
  toolName: 'search',
  input: {},
  providerExecuted: true,
};
const call = (id: string): AssistantPart => ({
  type: 'tool-call',
  toolCallId: id,
  toolName: 'run',
  input: {},
  providerOptions: { fake: { signature: id } },
});
const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };
const reply: ModelReply = { content: [searched, call('a'), call('b')], finishReason: 'tool-calls', usage };

describe('a changed reply', () => {
  const result = toLlmResult(reply, 'id');

  test('L-04 shows the calls that the agent has to run', () => {
    expect(result.toolCalls.map(({ id }) => id)).toEqual(['a', 'b']);
  });

  test('L-04 keeps the calls of the provider, and everything of the calls that nobody changed', () => {
    const [first, second] = result.toolCalls;
    if (first === undefined || second === undefined) throw new Error('Two calls are expected.');
    const changed = toModelReply({ ...result, toolCalls: [{ ...first, args: { x: 1 } }, second] }, reply);
    const other = { type: 'tool-call', toolCallId: 'a', toolName: 'run', input: { x: 1 } };
    expect(changed.content).toEqual([searched, other as AssistantPart, call('b')]);
  });

  test('L-04 without calls is finished, and keeps the usage', () => {
    const own = { ...reply, content: [call('a')] };
    const { meta: _, ...answer } = toLlmResult(own, 'id');
    expect(toModelReply({ ...answer, toolCalls: [] }, own)).toEqual({ content: [], finishReason: 'stop', usage });
  });

  test('L-04 with calls of the provider only is still finished', () => {
    const own: ModelReply = { content: [searched], finishReason: 'stop', usage };
    expect(toModelReply(toLlmResult(own, 'id'), own).finishReason).toBe('stop');
  });

  test('L-04 may have its calls in the message only', () => {
    const toolCalls = [{ id: 'a', name: 'run', args: {} }];
    expect(checkLlmResult({ message: { role: 'assistant', toolCalls } }, 'old').toolCalls).toEqual(toolCalls);
  });
});
