/** A whole turn, each step but the last with one tool call, on a model that answers at once: ours and the AI SDK's. */
import { generateText, stepCountIs, tool, jsonSchema } from 'ai';
import type { ModelReply } from '@goondan/types';
import { type ConversationStore, memoryStore, type Model, startAgent } from '@goondan/runtime';
import { type Contestant, measure, printTimings } from './measure.ts';

const parameters = { type: 'object' as const, properties: { city: { type: 'string' as const } }, required: ['city'] };

export async function benchTurn(): Promise<void> {
  for (const steps of [1, 10]) {
    const contestants = [sdk(steps), await ours('goondan, in memory', steps, memoryStore())];
    const timings = await measure(contestants, { operations: 20 });
    printTimings(`a turn of ${steps} step${steps === 1 ? '' : 's'}`, timings, 'ratio to generateText');
  }
}

function sdk(steps: number): Contestant {
  const model = sdkModel(steps);
  const tools = {
    weather__get: tool({
      description: 'Weather',
      inputSchema: jsonSchema(parameters),
      execute: async () => ({ tempC: 20 }),
    }),
  };
  return {
    name: 'AI SDK generateText',
    run: () => generateText({ model, tools, prompt: 'weather?', stopWhen: stepCountIs(steps + 1) }),
  };
}

/** Each turn in an instance of its own, so that no history grows. */
export async function ours(name: string, steps: number, store: ConversationStore): Promise<Contestant> {
  const agent = await startAgent(
    {
      agentName: 'bench',
      models: { 'Model/bench': instantModel(steps) },
      tools: [
        {
          name: 'weather',
          exports: [{ name: 'get', description: 'Weather', parameters }],
          handlers: { get: async () => ({ tempC: 20 }) },
        },
      ],
      extensions: [],
    },
    { store, logSink: () => undefined },
  );
  let count = 0;
  return {
    name,
    run: () =>
      agent.handle({
        id: String(++count),
        type: 'user.message',
        input: 'weather?',
        instanceKey: 'default',
        source: { kind: 'cli', name: 'bench' },
        traceId: 'trace',
        createdAt: new Date(),
      }),
  };
}

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

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

/** The same answers through the provider contract the AI SDK calls. */
function sdkModel(steps: number): Parameters<typeof generateText>[0]['model'] {
  let calls = 0;
  const none = { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined };
  const sdkUsage = { inputTokens: none, outputTokens: { total: 1, text: 1, reasoning: undefined } };
  return {
    specificationVersion: 'v4',
    provider: 'bench',
    modelId: 'bench',
    supportedUrls: {},
    async doGenerate() {
      calls++;
      if (calls % steps === 0) {
        return {
          content: [{ type: 'text', text: 'Sunny.' }],
          finishReason: { unified: 'stop', raw: 'stop' },
          usage: sdkUsage,
          warnings: [],
        };
      }
      return {
        content: [
          { type: 'tool-call', toolCallId: `call-${calls}`, toolName: 'weather__get', input: '{"city":"Seoul"}' },
        ],
        finishReason: { unified: 'tool-calls', raw: 'tool-calls' },
        usage: sdkUsage,
        warnings: [],
      };
    },
    doStream: () => Promise.reject(new Error('not used')),
  };
}
