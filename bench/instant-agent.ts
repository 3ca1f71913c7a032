/** The parts of an agent that the benchmarks share: secrets to mask, a tool, an input, and a model that answers at once. */
import type { AgentEvent, ModelReply } from '@goondan/types';
import type { Model } from '../packages/runtime/src/agent/model/model-port.ts';
import type { ToolDeclaration } from '../packages/runtime/src/agent/tool/load-tool.ts';

export const secrets: readonly string[] = ['a secret of the bench', 'another secret of the bench'];

export const parameters = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const } },
  required: ['city'],
};

export const weather: ToolDeclaration = {
  name: 'weather',
  exports: [{ name: 'get', description: 'Weather', parameters }],
  handlers: { get: async () => ({ tempC: 20 }) },
};

export const question = 'What is the weather like in Seoul today?';

export function benchEvent(number: number): AgentEvent {
  return {
    id: String(number),
    type: 'user.message',
    input: question,
    instanceKey: 'default',
    source: { kind: 'cli', name: 'bench' },
    traceId: 'trace',
    createdAt: new Date(),
  };
}

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

/** A model that answers at once: a tool call in every step except the last. */
export function instantModel(steps: number): Model {
  let calls = 0;
  return {
    async generate(): Promise<ModelReply> {
      calls++;
      if (calls % steps === 0) return { content: [{ type: 'text', text: 'Sunny.' }], finishReason: 'stop', usage };
      const call = { toolCallId: `call-${calls}`, toolName: 'weather__get', input: { city: 'Seoul' } };
      return { content: [{ type: 'tool-call', ...call }], finishReason: 'tool-calls', usage };
    },
  };
}
