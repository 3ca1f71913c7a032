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
import { extension, fakeApprover } from '../../testing/index.ts';
import { inputEvent } from '../../testing/input-event.ts';
import { recordTurn } from '../../trace/record-turn.ts';
import type { AgentPlan } from '../start/agent-plan.ts';
import { type RunningAgent, startAgent } from '../start/start-agent.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';
import { toProviderName } from '../tool/provider-tool-name.ts';
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
const guideAtProvider = toProviderName(guideName);

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
      const call = { id: 'call-1', name: guideAtProvider, args: { city: 'Seoul' } };
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
      expect(first).toContain(`"${guideAtProvider}"`);
      expect(second?.split(`"${guideAtProvider}"`).length).toBeGreaterThan(2);
      expect(`${first}${second}`).not.toContain(guideName);
      const { messages } = await agent.parts.store.read(agent.parts.address);
      const traced = JSON.stringify(recorder.turn());
      for (const kept of [JSON.stringify(messages), traced]) {
        expect(kept).toContain(guideName);
        expect(kept).not.toContain(guideAtProvider);
      }
    },
  );
});

/** Runs a turn against a server that refuses odd and repeated names of tools. `replies`: before the answer. */
async function againstServer(provider: ProviderCase, register: ExtensionRegister, ...replies: WireReply[]) {
  await using server = startWireServer(provider.dialect);
  server.answer(...[...replies, answer].map((reply) => ({ reply })));
  const approver = fakeApprover(() => ({ decision: 'approved' }));
  const plan = planAt(server.url, provider, { extensions: [extension('mine', register)] });
  const agent = await startAgent(plan, { ...quiet, approver });
  const recorder = recordTurn(systemClock);
  const { result, text } = await say(agent, 'Weather?', { observer: recorder });
  const { messages } = await agent.parts.store.read(agent.parts.address);
  const kept = JSON.stringify([messages, recorder.turn()]);
  const offered = server.requests.map(({ body }) => provider.dialect.toolNames(body));
  const bodies = server.requests.map(({ body }) => JSON.stringify(body));
  return {
    error: result.error,
    text,
    kept,
    offered,
    bodies,
    asked: approver.questions.map(({ toolName }) => toolName),
  };
}

describe.each(providerCases)('%s takes the tools of an extension', (_name, provider) => {
  test('C-13 that a step layer adds although they are registered: each name once', async () => {
    const skills = ['list', 'open'].map((name) => ({ name: `skills__${name}`, description: 'Skills.' }));
    const register: ExtensionRegister = ({ tools, pipeline }) => {
      for (const skill of skills) tools.register(skill, () => 'none');
      pipeline.register('step', (ctx) => {
        ctx.toolCatalog = [...ctx.toolCatalog, ...skills];
        return ctx.next();
      });
    };
    const { error, text, offered } = await againstServer(provider, register);
    expect([error, text]).toEqual([undefined, 'It is 21 degrees.']);
    expect(offered).toEqual([['weather__get', 'skills__list', 'skills__open']]);
  });

  test('X-09 whose names it does not accept; calls, approvals, history and trace have the own names', async () => {
    const names = ['issues.list/all', 'issues_list_all', 'issues list all', '이슈', 'x'.repeat(100)];
    const own = names.map((name) => `mcp-github__${name}`);
    const called: string[] = [];
    const register: ExtensionRegister = ({ tools, pipeline }) => {
      for (const name of own) tools.register({ name, description: 'Issues.' }, () => `${called.push(name)} done`);
      pipeline.register('toolCall', async (ctx) => {
        await ctx.approval.ask({ reason: 'Always.' });
        return ctx.next();
      });
    };
    const calls = own.map((name, index) => ({ id: `call-${index}`, name: toProviderName(name), args: {} }));
    const { error, text, kept, offered, bodies, asked } = await againstServer(provider, register, { usage, calls });
    expect([error, text]).toEqual([undefined, 'It is 21 degrees.']);
    expect([asked, called]).toEqual([own, own]);
    const atProvider = own.map(toProviderName);
    expect(offered).toEqual([
      ['weather__get', ...atProvider],
      ['weather__get', ...atProvider],
    ]);
    for (const [index, name] of own.entries()) {
      const sent = atProvider[index] ?? '';
      expect(kept).toContain(JSON.stringify(name));
      expect(sent === name || !kept.includes(sent)).toBe(true);
      // The call of the first step has the same name in the second.
      expect(bodies[1]?.split(`"${sent}"`).length).toBeGreaterThan(2);
    }
  });
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
    server.answer({ reply: { usage, calls: [{ id: 'call-1', name: guideAtProvider, args: {} }] } }, { reply: answer });
    const recorded = await run(server.url, 'record');
    expect(recorded).toEqual(['It is 21 degrees.', [guideName]]);
    expect(await readFile(join(folder, 'guide.jsonl'), 'utf8')).not.toContain(guideAtProvider);
    expect(await run('http://127.0.0.1:9', 'replay')).toEqual(recorded);
  });
});
