import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineSwarm, startSwarm, toolFile } from '@goondan/runtime';
import { loadBundle, resolveSwarm } from '@goondan/runtime/bundle';
import { textOf } from '@goondan/types';
import { generateText, isStepCount } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { definePlay } from './swarm.ts';
import { getWeather } from './tools/weather.ts';
import type * as weather from './tools/weather.ts';

// This folder is a bundle. The program loads and starts it, as `gdn run examples/tool-in-code` does.
const bundle = await loadBundle(import.meta.dirname, { environment: {} });
assert.deepEqual([bundle.errors, bundle.warnings], [[], []]);

const stateRoot = await mkdtemp(join(tmpdir(), 'goondan-tool-in-code-'));
const { plan } = resolveSwarm(bundle, { environment: {} });

// The same tool in a program of the AI SDK, and in a swarm. A model of a test answers the first, a script the second.
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const reply = (reason: 'tool-calls' | 'stop') => ({
  finishReason: { unified: reason, raw: reason },
  usage,
  warnings: [],
});
const call = { type: 'tool-call', toolCallId: 'a', toolName: 'getWeather', input: '{"city":"Seoul"}' } as const;
const model = new MockLanguageModelV4({
  doGenerate: [
    { ...reply('tool-calls'), content: [call] },
    { ...reply('stop'), content: [{ type: 'text', text: 'Seoul: 12 °C.' }] },
  ],
});
const spec = {
  provider: 'scripted' as const,
  model: 'scripted',
  options: {
    script: [
      { when: 'weather', call: { tool: 'weather__get_weather', args: { city: 'Seoul' } } },
      { afterTool: 'weather__get_weather', say: '{{result.text}}' },
    ],
  },
};

const prompt = 'What is the weather in Seoul?';
const { text } = await generateText({ model, tools: { getWeather }, stopWhen: isStepCount(5), prompt });
assert.equal(text, 'Seoul: 12 °C.');

const defined = await defineSwarm({
  folder: import.meta.dirname,
  resources: [
    toolFile<typeof weather>(import.meta.url, './tools/weather.ts'),
    { kind: 'Agent', metadata: { name: 'assistant' }, spec: { model: spec, tools: ['Tool/weather'] } },
  ],
});
const swarm = await startSwarm({ ...defined, stateRoot });
const { result } = await swarm.ask({ input: prompt });
assert.equal(textOf(result.responseMessage), 'Seoul: 12 °C.');
await swarm.stop();

try {
  const rolling = await startSwarm({ ...plan, stateRoot, bundleFolder: bundle.folder });
  const one = await rolling.ask({ input: 'Roll a die.' });
  assert.match(textOf(one.result.responseMessage), /^You rolled [1-6]\.$/);
  const two = await rolling.ask({ input: 'Roll two dice.' });
  assert.match(textOf(two.result.responseMessage), /^You rolled [1-6] and [1-6]\.$/);

  // If the schema refuses the arguments, `run` is not called, and the model reads the reason.
  const refused = await rolling.ask({ input: 'Roll one with a thousand sides.' });
  assert.match(textOf(refused.result.responseMessage), /sides must be <= 100/);
  await rolling.stop();

  const inCode = await startSwarm({ ...(await definePlay()), stateRoot });
  const same = await inCode.ask({ input: 'Roll a die.' });
  assert.match(textOf(same.result.responseMessage), /^You rolled [1-6]\.$/);
  await inCode.stop();
} finally {
  await rm(stateRoot, { recursive: true, force: true });
}
