import type { JsonObject, ModelReply } from '@goondan/types';
import type { Model } from '@goondan/runtime/internal';

/**
 * A model that calls the tool named in its input, `tool {"json": "arguments"}`, and answers `done` to any other input.
 */
export function obedientModel(extension: string): Model {
  let calls = 0;
  return {
    async generate({ messages }): Promise<ModelReply> {
      const newest = messages.at(-1);
      const told = newest?.role === 'user' && typeof newest.content === 'string' ? newest.content : '';
      const [, tool, args = '{}'] = /^(\S+) (\{.*\})$/s.exec(told) ?? [];
      const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
      if (tool === undefined) return { content: [{ type: 'text', text: 'done' }], finishReason: 'stop', usage };
      calls += 1;
      // The cast is safe: the test wrote the arguments.
      const input = JSON.parse(args) as JsonObject;
      const call = {
        type: 'tool-call' as const,
        toolCallId: `call-${calls}`,
        toolName: `${extension}__${tool}`,
        input,
      };
      return { content: [call], finishReason: 'tool-calls', usage };
    },
  };
}
