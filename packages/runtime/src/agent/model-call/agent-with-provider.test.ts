/**
 * Tests a whole agent on a provider's model: checks at the start, retries in a turn, tool results sent to the model,
 * and a recording.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type JsonObject, textOf } from '@goondan/types';
import type { AgentPlan } from '../start/agent-plan.ts';
import { type RunningAgent, startAgent } from '../start/start-agent.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';
import { failureOf } from '../model/providers/wire/ask-model.ts';
import { providerCases, type ProviderCase } from '../model/providers/wire/provider-cases.ts';
import type { WireReply } from '../model/providers/wire/wire-dialect.ts';
import { startWireServer } from '../model/providers/wire/wire-server.ts';

const usage = { input: 10, output: 5, cached: 0 };
const answer: WireReply = { text: ['It is ', '21 degrees.'], usage };
const twoCalls: WireReply = {
  usage,
  calls: [
    { id: 'call-1', name: 'weather__get', args: { city: 'Seoul' } },
    { id: 'call-2', name: 'weather__get', args: { city: 'Atlantis' } },
  ],
};

const weather: ToolDeclaration = {
  name: 'weather',
  exports: [{ name: 'get', description: 'The weather of a city.', parallel: true }],
  handlers: {
    get(_ctx, input) {
      if (input['city'] !== 'Seoul') throw new Error('no such city');
      return { tempC: 21 };
    },
  },
};

/** These tests do not need the logs. */
const quiet = { logSink: () => {} };

const planAt = (url: string, { provider, model }: ProviderCase, more: Partial<AgentPlan> = {}): AgentPlan => ({
  agentName: 'meteorologist',
  models: { 'Model/real': { provider, model, apiKey: 'k', endpoint: `${url}/v1` } },
  tools: [weather],
  ...more,
});

let events = 0;
async function say(agent: RunningAgent, input: string) {
  const { result, stepCount } = await agent.handle({
    id: `event-${++events}`,
    type: 'test',
    input,
    instanceKey: 'default',
    source: { kind: 'cli', name: 'test' },
    traceId: 'trace',
    createdAt: new Date(),
  });
  return { result, stepCount, text: textOf(result.responseMessage) };
}

test('a missing key fails the start of the agent, with the name of its variable', async () => {
  const models = { 'Model/real': { provider: 'anthropic', model: 'x' } };
  const error = await failureOf(startAgent({ agentName: 'a', models }, { environment: {} }));
  expect(error).toMatchObject({ code: 'E_MODEL_KEY', message: expect.stringContaining('ANTHROPIC_API_KEY') });
});

describe.each(providerCases)('%s', (_name, provider) => {
  test('runs parallel tools and sends each result under its own call', async () => {
    await using server = startWireServer(provider.dialect);
    server.answer({ reply: twoCalls }, { reply: answer });
    const { text, stepCount } = await say(await startAgent(planAt(server.url, provider), quiet), 'Weather?');
    expect(text).toBe('It is 21 degrees.');
    expect(stepCount).toBe(2);
    const sent = JSON.stringify(provider.messages(server.requests[1]?.body ?? {}));
    expect(sent.indexOf('tempC')).toBeGreaterThan(sent.indexOf('Atlantis'));
    expect(sent.indexOf('no such city')).toBeGreaterThan(sent.indexOf('tempC'));
  });

  test.each([true, false])(
    'F-02 an incomplete call does not run, and the model gets an error result (stream: %p)',
    async (stream) => {
      await using server = startWireServer(provider.dialect);
      server.answer({ reply: { ...twoCalls, isTruncated: true } }, { reply: answer });
      const ran: unknown[] = [];
      const handlers = { get: (_ctx: unknown, { city }: JsonObject) => void ran.push(city) };
      const plan = planAt(server.url, provider, { tools: [{ ...weather, handlers }] });
      const models = Object.fromEntries(
        Object.entries(plan.models).map(([ref, model]) => [ref, { ...model, options: { stream } }]),
      );
      const { text, stepCount, result } = await say(await startAgent({ ...plan, models }, quiet), 'Weather?');
      expect([ran, text, stepCount]).toEqual([['Seoul'], 'It is 21 degrees.', 2]);
      expect(result).not.toHaveProperty('truncated');
      const sent = provider.messages(server.requests[1]?.body ?? {});
      expect(JSON.stringify(sent)).toContain('E_REPLY_TRUNCATED');
    },
  );

  test('is called again by the runtime after the wait that the provider asks for', async () => {
    await using server = startWireServer(provider.dialect);
    const busy = JSON.stringify(provider.dialect.error(429, provider.errorTypes.rate, 'Slow down.'));
    server.answer({ status: 429, body: busy, headers: { 'retry-after-ms': '5' } }, { reply: answer });
    const agent = await startAgent(planAt(server.url, provider, { policy: { retryBaseMs: 60_000 } }), quiet);
    expect((await say(agent, 'Weather?')).text).toBe('It is 21 degrees.');
    expect(server.requests).toBeArrayOfSize(2);
  });

  test('is not called again when the conversation is too long', async () => {
    await using server = startWireServer(provider.dialect);
    const { status, type, message } = provider.tooLong;
    server.answer({ status, body: JSON.stringify(provider.dialect.error(status, type, message)) });
    const { result } = await say(await startAgent(planAt(server.url, provider), quiet), 'Weather?');
    expect(result).toMatchObject({ finishReason: 'error', error: { code: 'E_MODEL_CONTEXT' } });
    expect(server.requests).toBeArrayOfSize(1);
  });
});

describe('a cassette in front of a provider', () => {
  let folder: string;
  beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'cassette-'))));
  afterAll(() => rm(folder, { recursive: true }));

  test.each(providerCases)('%s is recorded once, and its turns run again without a server', async (name, provider) => {
    const options = { file: `${name}.jsonl`, upstream: 'Model/real' };
    const taped = (mode: string) => ({ provider: 'cassette', model: 'tape', options: { ...options, mode } });
    const start = (url: string, mode: string) => {
      const plan = planAt(url, provider);
      const models = { ...plan.models, 'Model/taped': taped(mode) };
      return startAgent({ ...plan, models, modelRef: 'Model/taped', bundleFolder: folder }, quiet);
    };
    const conversation = async (agent: RunningAgent) => [
      (await say(agent, 'Weather?')).text,
      (await say(agent, 'And tomorrow?')).text,
    ];

    const recorded = await (async () => {
      await using server = startWireServer(provider.dialect);
      server.answer({ reply: twoCalls }, { reply: answer }, { reply: { text: ['Rain.'], usage } });
      return await conversation(await start(server.url, 'record'));
    })();
    expect(recorded).toEqual(['It is 21 degrees.', 'Rain.']);
    expect(await conversation(await start('http://127.0.0.1:9', 'replay'))).toEqual(recorded);
  });
});
