/**
 * Measures a whole turn on a model that answers at once, with our runtime and with the AI SDK. Every step except the
 * last has one tool call.
 */
import { generateText, stepCountIs, tool, jsonSchema } from 'ai';
import { startAgent } from '@goondan/runtime';
import type { Journal } from '../packages/runtime/src/workspace/journal/journal.ts';
import { measureSync } from './counting-fs.ts';
import { benchEvent, durableAgent, instantModel, parameters, weather, withDisk } from './durable-agent.ts';
import { type Contestant, measure, printTimings } from './measure.ts';

export async function benchTurn(): Promise<void> {
  for (const steps of [1, 10]) {
    await withDisk(async (journal, fs) => {
      const durable = await onDisk(steps, journal);
      const timings = await measure([sdk(steps), await inMemory(steps), durable], { operations: 5 });
      printTimings(`a turn of ${steps} step${steps === 1 ? '' : 's'}`, timings, 'ratio to generateText');
      const before = fs.syncs;
      await durable.run();
      console.log(
        `  apart: ${fs.syncs - before} syncs a turn, about ${(await measureSync()).toFixed(0)} µs each on this disk`,
      );
    });
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

async function inMemory(steps: number): Promise<Contestant> {
  const agent = await startAgent(
    { agentName: 'bench', models: { 'Model/bench': instantModel(steps) }, tools: [weather] },
    { logSink: () => undefined },
  );
  let count = 0;
  return { name: 'goondan, in memory', run: () => agent.handle(benchEvent(++count)) };
}

/** Runs durable turns. Their time includes accepting the input. Syncs are counted and reported separately. */
async function onDisk(steps: number, journal: Journal): Promise<Contestant> {
  const agent = await durableAgent(journal, steps);
  return { name: 'goondan, durable', run: () => agent.turn() };
}

/** A model with the same answers, for the provider interface of the AI SDK. */
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
