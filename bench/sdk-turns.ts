/** The turns of the AI SDK, with the tools and the answers of our own turns. */
import { generateText, jsonSchema, type ModelMessage, stepCountIs, tool } from 'ai';
import { parameters, question } from './instant-agent.ts';
import type { Contestant } from './measure.ts';

/** With its history, a turn gets all messages of the earlier turns of its sample, as our turns do. */
export function sdkTurns(steps: number, history: 'prompt alone' | 'with its history'): Contestant {
  const model = sdkModel(steps);
  const tools = {
    weather__get: tool({
      description: 'Weather',
      inputSchema: jsonSchema(parameters),
      execute: async () => ({ tempC: 20 }),
    }),
  };
  const stopWhen = stepCountIs(steps + 1);
  let messages: ModelMessage[] = [];
  const run = async () => {
    messages.push({ role: 'user', content: question });
    const { response } = await generateText({ model, tools, messages, stopWhen });
    if (history === 'prompt alone') messages = [];
    else messages.push(...response.messages);
  };
  return {
    name: `AI SDK generateText, ${history}`,
    async begin() {
      messages = [];
      await run();
    },
    run,
  };
}

/** A model with the answers of `instantModel`, for the provider interface of the AI SDK. */
function sdkModel(steps: number): Parameters<typeof generateText>[0]['model'] {
  let calls = 0;
  const none = { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined };
  const usage = { inputTokens: none, outputTokens: { total: 1, text: 1, reasoning: undefined } };
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
          usage,
          warnings: [],
        };
      }
      return {
        content: [
          { type: 'tool-call', toolCallId: `call-${calls}`, toolName: 'weather__get', input: '{"city":"Seoul"}' },
        ],
        finishReason: { unified: 'tool-calls', raw: 'tool-calls' },
        usage,
        warnings: [],
      };
    },
    doStream: () => Promise.reject(new Error('not used')),
  };
}
