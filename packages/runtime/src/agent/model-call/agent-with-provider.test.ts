/**
 * Tests a whole agent on a provider's model: calls that do not run, names of tools that a provider does not accept, and
 * a recording.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ExtensionRegister, type JsonObject, textOf } from '@goondan/types';
import { systemClock } from '../../ports/clock.ts';
import { extension } from '../../testing/index.ts';
import { inputEvent } from '../../testing/input-event.ts';
import { recordTurn } from '../../trace/record-turn.ts';
import type { AgentPlan } from '../start/agent-plan.ts';
import { type RunningAgent, startAgent } from '../start/start-agent.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';
import { anthropicCase, providerCases, type ProviderCase } from '../model/providers/wire/provider-cases.ts';
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

const guideName = 'look up (fast)';

/** Offers a tool with a name that no provider accepts, and answers its calls. */
function offerGuide(seen: string[] = []): ExtensionRegister {
  return ({ pipeline }) => {
    pipeline.register('step', (ctx) => {
      ctx.toolCatalog.push({ name: guideName, description: 'Looks it up.' });
      return ctx.next();
    });
    pipeline.register(
      'toolCall',
      async (ctx) => {
        const { toolCallId, toolName } = ctx;
        if (toolName !== guideName) return ctx.next();
        seen.push(toolName);
        return { toolCallId, toolName, status: 'ok', output: 'sunny' };
      },
      { mayShortCircuit: true },
    );
  };
}

let events = 0;
async function say(agent: RunningAgent, input: string, options: Parameters<RunningAgent['handle']>[1] = {}) {
  const { result, stepCount } = await agent.handle(inputEvent(`event-${++events}`, { input }), options);
  return { result, stepCount, text: textOf(result.responseMessage) };
}

describe.each(providerCases)('%s', (_name, provider) => {
  test.each([true, false])(
    'an incomplete call does not run, and the model gets an error result (stream: %p)',
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

  test.each([true, false])(
    'gets a catalog item under a name that it accepts, and layers see its own name (stream: %p)',
    async (stream) => {
      await using server = startWireServer(provider.dialect);
      const call = { id: 'call-1', name: 'look_up__fast_', args: { city: 'Seoul' } };
      server.answer({ reply: { usage, calls: [call] } }, { reply: answer });
      const seen: string[] = [];
      const plan = planAt(server.url, provider, { extensions: [extension('guide', offerGuide(seen))] });
      const models = Object.fromEntries(
        Object.entries(plan.models).map(([ref, model]) => [ref, { ...model, options: { stream } }]),
      );
      const agent = await startAgent({ ...plan, models }, quiet);
      const recorder = recordTurn(systemClock);
      const { text } = await say(agent, 'Weather?', { observer: recorder });
      expect([text, seen]).toEqual(['It is 21 degrees.', [guideName]]);
      const [first, second] = server.requests.map(({ body }) => JSON.stringify(body));
      expect(first).toContain('"look_up__fast_"');
      expect(second?.match(/"look_up__fast_"/g)?.length).toBeGreaterThan(1);
      expect(`${first}${second}`).not.toContain(guideName);
      const { messages } = await agent.parts.store.read(agent.parts.address);
      const traced = JSON.stringify(recorder.turn());
      for (const kept of [JSON.stringify(messages), traced]) {
        expect(kept).toContain(guideName);
        expect(kept).not.toContain('look_up__fast_');
      }
    },
  );
});

describe('a cassette in front of a provider', () => {
  let folder: string;
  beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'cassette-'))));
  afterAll(() => rm(folder, { recursive: true }));

  test('a recording has the own names of tools, and its calls reach the same layers', async () => {
    const run = async (url: string, mode: string) => {
      const seen: string[] = [];
      const options = { file: 'guide.jsonl', upstream: 'Model/real', mode };
      const plan = planAt(url, anthropicCase, { extensions: [extension('guide', offerGuide(seen))] });
      const models = { ...plan.models, 'Model/taped': { provider: 'cassette', model: 'tape', options } };
      const agent = await startAgent({ ...plan, models, modelRef: 'Model/taped', bundleFolder: folder }, quiet);
      return [(await say(agent, 'Weather?')).text, seen];
    };
    await using server = startWireServer(anthropicCase.dialect);
    server.answer({ reply: { usage, calls: [{ id: 'call-1', name: 'look_up__fast_', args: {} }] } }, { reply: answer });
    const recorded = await run(server.url, 'record');
    expect(recorded).toEqual(['It is 21 degrees.', [guideName]]);
    expect(await readFile(join(folder, 'guide.jsonl'), 'utf8')).not.toContain('look_up__fast_');
    expect(await run('http://127.0.0.1:9', 'replay')).toEqual(recorded);
  });
});
