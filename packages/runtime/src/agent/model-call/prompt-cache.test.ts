/** Tests the cache of prompts: the marks in the requests, the tokens that are read and written, and the reasons for losses. */
import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createSystemMessage,
  createUserMessage,
  type ExtensionRegister,
  type JsonObject,
  type JsonValue,
  type StepMiddlewareContext,
  type TokenUsage,
  type TurnMiddlewareContext,
} from '@goondan/types';
import type { ModelSpec } from '../../config/model-spec.ts';
import { systemClock } from '../../ports/clock.ts';
import { extension } from '../../testing/index.ts';
import { beforeNext, layerOf } from '../../testing/one-layer.ts';
import { inputEvent } from '../../testing/input-event.ts';
import { recordTurn } from '../../trace/record-turn.ts';
import { renderTrace } from '../../trace/render-trace.ts';
import type { ChainRecord } from '../../trace/turn-trace.ts';
import { AnthropicCache } from '../model/providers/wire/anthropic-cache.ts';
import { anthropicCase, compatibleCase, googleCase, openaiCase } from '../model/providers/wire/provider-cases.ts';
import type { WireReply } from '../model/providers/wire/wire-dialect.ts';
import { startWireServer, type WireServer } from '../model/providers/wire/wire-server.ts';
import type { ExtensionDeclaration } from '../extension/load-extension.ts';
import type { AgentPlan } from '../start/agent-plan.ts';
import { type RunningAgent, startAgent } from '../start/start-agent.ts';

const usage = { input: 0, output: 5, cached: 0 };
const call: WireReply = { usage, calls: [{ id: 'c', name: 'weather__get', args: { city: 'Seoul' } }] };
const answer: WireReply = { usage, text: ['21 degrees.'] };
const long = (what: string) => `${what} `.repeat(1_500);

const weather = {
  name: 'weather',
  exports: [{ name: 'get', description: long('The weather of a city.') }],
  handlers: { get: () => ({ tempC: 21 }) },
};

function startCached(): WireServer {
  const cache = new AnthropicCache();
  return startWireServer(anthropicCase.dialect, (body) => cache.count(body));
}

async function startAt(server: WireServer, more: Partial<AgentPlan> = {}, options: JsonObject = {}) {
  const model = {
    provider: 'anthropic',
    model: anthropicCase.model,
    apiKey: 'k',
    endpoint: `${server.url}/v1`,
    options,
  };
  const models = { 'Model/claude': model, 'Model/other': { ...model, model: 'claude-opus-4-1' } };
  return startAgent(
    { agentName: 'a', systemPrompt: long('Be brief.'), models, modelRef: 'Model/claude', tools: [weather], ...more },
    { logSink: () => undefined },
  );
}

let events = 0;
async function say(agent: RunningAgent, input: string) {
  const recorder = recordTurn(systemClock);
  const outcome = await agent.handle(inputEvent(`cache-${++events}`, { input }), { observer: recorder });
  const turn = recorder.turn() as ChainRecord;
  return { ...outcome, turn, calls: chainsIn(turn).filter(({ kind }) => kind === 'model') };
}

function chainsIn(chain: ChainRecord): ChainRecord[] {
  return [chain, ...chain.inside.flatMap(chainsIn)];
}

/** Returns the places of the marks in a body: `tools`, `system 0`, and `message.block` for each message. */
function marksIn(body: JsonObject | undefined): string[] {
  const marked = (values: JsonValue | undefined, name: (at: number) => string) =>
    (Array.isArray(values) ? values : []).flatMap((value, at) =>
      JSON.stringify(value).includes('"cache_control":{"type":"ephemeral"}') ? [name(at)] : [],
    );
  const { tools, system, messages } = body ?? {};
  const inMessages = (Array.isArray(messages) ? messages : []).flatMap((message, number) =>
    marked((message as JsonObject)['content'], (at) => `${number}.${at}`),
  );
  return [...marked(tools, () => 'tools'), ...marked(system, (at) => `system ${at}`), ...inMessages];
}

const marksAt = ({ requests }: WireServer, at: number) => marksIn(requests.at(at)?.body);

describe('Y-05 marks in requests to anthropic', () => {
  test('are after the tools, the system prompt and the last message', async () => {
    await using server = startCached();
    server.answer({ reply: call }, { reply: answer });
    const agent = await startAt(server);
    await say(agent, 'Weather?');
    expect([marksAt(server, 0), marksAt(server, 1)]).toEqual([
      ['tools', 'system 0', '0.0'],
      ['tools', 'system 0', '2.0'],
    ]);
  });

  test('are not on ephemeral messages, nor on messages of a model layer', async () => {
    await using server = startCached();
    server.answer({ reply: answer });
    const noting = (register: ExtensionRegister) => startAt(server, { extensions: [extension('noter', register)] });
    const ephemeral = await noting(
      layerOf('step', (ctx) => {
        const message = createUserMessage('It is noon.', {}, { lifetime: 'step' });
        ctx.emitMessageEvent({ type: 'append', message });
        return ctx.next();
      }),
    );
    await say(ephemeral, 'Hi');
    expect(marksAt(server, -1)).toEqual(['tools', 'system 0', '0.0']);
    const added = await noting(
      layerOf('model', (ctx) => {
        ctx.messages = [...ctx.messages, { role: 'user', content: 'It is noon.' }];
        return ctx.next();
      }),
    );
    await say(added, 'Hi');
    expect(marksAt(server, -1)).toEqual(['tools', 'system 0', '0.0']);
    const replaced = await noting(
      layerOf('model', (ctx) => {
        ctx.messages = ctx.messages.map((message) => (message.role === 'user' ? { ...message } : message));
        return ctx.next();
      }),
    );
    await say(replaced, 'Hi');
    expect(marksAt(server, -1)).toEqual(['tools', 'system 0']);
  });

  test('are not on messages behind a system message that is ephemeral, because it goes to the front', async () => {
    await using server = startCached();
    server.answer({ reply: answer });
    const register = layerOf('turn', (ctx) => {
      const message = createSystemMessage('It is noon.', {}, { lifetime: 'turn' });
      ctx.emitMessageEvent({ type: 'append', message });
      return ctx.next();
    });
    const agent = await startAt(server, { extensions: [extension('noter', register)] });
    await say(agent, 'Hi');
    expect(marksAt(server, 0)).toEqual(['tools', 'system 0']);
  });

  test('are missing in a prompt that is too short, and with `cache: false`', async () => {
    await using server = startCached();
    server.answer({ reply: answer });
    await say(await startAt(server, { systemPrompt: 'Be brief.', tools: [] }), 'Hi');
    await say(await startAt(server, {}, { cache: false }), 'Hi');
    expect(server.requests.map(({ body }) => marksIn(body))).toEqual([[], []]);
  });

  test('leave the marks of layers and of the bundle in place, and are four at most', async () => {
    await using server = startCached();
    server.answer({ reply: answer });
    const providerOptions = { anthropic: { cacheControl: { type: 'ephemeral' } } };
    const register = layerOf('turn', (ctx) => {
      for (const text of ['one', 'two']) {
        const { data, ...message } = createUserMessage(text);
        ctx.emitMessageEvent({
          type: 'append',
          message: { ...message, data: { ...data, providerOptions } },
        });
      }
      ctx.emitMessageEvent({ type: 'append', message: createUserMessage('three') });
      return ctx.next();
    });
    const agent = await startAt(server, { extensions: [extension('marker', register)] }, { providerOptions });
    await say(agent, 'Hi');
    const [request] = server.requests;
    expect(request?.body['cache_control']).toEqual({ type: 'ephemeral' });
    // The mark of the bundle and the two of the layer leave one, which is worth the most on the last message.
    expect(marksAt(server, 0)).toEqual(['0.1', '0.2', '0.3']);
  });

  test('include the end of the last request, when more blocks follow it than the provider looks back', async () => {
    await using server = startCached();
    const calls = Array.from({ length: 15 }, (_, at) => ({
      id: `c${at}`,
      name: 'weather__get',
      args: { city: `${at}` },
    }));
    server.answer({ reply: { usage, calls } }, { reply: answer });
    const { calls: asked } = await say(await startAt(server), 'Weather everywhere?');
    expect(marksAt(server, 1)).toEqual(['tools', 'system 0', '0.0', '2.14']);
    expect(asked[1]?.tokens?.cacheRead).toBe(asked[0]?.tokens?.cacheWrite as number);
  });

  test('make the reads of ten turns with tools grow, and no token is written twice', async () => {
    await using server = startCached();
    const agent = await startAt(server);
    const all: TokenUsage[] = [];
    for (let turn = 0; turn < 10; turn++) {
      server.answer({ reply: call }, { reply: answer });
      const { calls, usage: used } = await say(agent, `Weather on day ${turn}?`);
      all.push(used);
      expect(calls.map(({ request }) => request?.cacheLost)).toEqual([undefined, undefined]);
    }
    const reads = all.map(({ cachedInputTokens = 0 }) => cachedInputTokens);
    expect(reads.every((read, turn) => turn === 0 || read > (reads[turn - 1] ?? 0))).toBe(true);
    const written = all.reduce((sum, { cacheWriteTokens = 0 }) => sum + cacheWriteTokens, 0);
    const last = server.requests.at(-1);
    // Every token is sent to the cache once: together they are the last request.
    expect(written).toBe(new AnthropicCache().count(last?.body ?? {}).input);
    // All but the newest messages of each request come from the cache.
    const input = all.slice(1).reduce((sum, { inputTokens }) => sum + inputTokens, 0);
    expect(reads.slice(1).reduce((sum, read) => sum + read, 0) / input).toBeGreaterThan(0.97);
  });
});

test.each([openaiCase, googleCase, compatibleCase])(
  'Y-05 $provider needs no marks',
  async ({ provider, model, dialect }) => {
    await using server = startWireServer(dialect);
    server.answer({ reply: answer });
    const models = { 'Model/m': { provider, model, apiKey: 'k', endpoint: `${server.url}/v1` } };
    const plan = { agentName: 'a', systemPrompt: long('Be brief.'), models, tools: [weather] };
    await say(await startAgent(plan, { logSink: () => undefined }), 'Hi');
    expect(JSON.stringify(server.requests[0]?.body)).not.toMatch(/cache_?control/i);
  },
);

describe('Y-05 docs/caching.md', () => {
  const page = readFileSync(join(import.meta.dir, '../../../../../docs/caching.md'), 'utf8');
  const specs = [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(
    // Safe: the next test fails if these are not Models.
    ([, yaml = '']) => (Bun.YAML.parse(yaml) as { spec: ModelSpec }).spec,
  );

  test('its Models have breakpoints by default, and none with `cache: false`', async () => {
    await using server = startCached();
    server.answer({ reply: answer });
    expect(specs).toHaveLength(2);
    for (const spec of specs) {
      const models = { 'Model/claude': { ...spec, apiKey: 'k', endpoint: `${server.url}/v1` } };
      await say(await startAt(server, { models }), 'Hi');
    }
    expect(server.requests.map(({ body }) => marksIn(body))).toEqual([['tools', 'system 0', '0.0'], []]);
  });
});

describe('Y-05 the trace names the cause of a lost cache', () => {
  const isThird = (messages: readonly unknown[]) => messages.length >= 5;
  const isThirdOf = (ctx: TurnMiddlewareContext | StepMiddlewareContext) => isThird(ctx.conversationState.nextMessages);

  test.each<[did: string, declared: ExtensionDeclaration, lost: string[]]>([
    [
      'replaced a message',
      beforeNext('compaction', 'turn', (ctx) => {
        const [, second] = ctx.conversationState.nextMessages;
        if (isThirdOf(ctx) && second !== undefined) {
          const message = createUserMessage('A summary.');
          ctx.emitMessageEvent({ type: 'replace', targetId: second.id, message });
        }
      }),
      ['cache lost at message 2: `compaction` replaced it'],
    ],
    [
      'truncated the conversation',
      beforeNext('forgetful', 'turn', (ctx) => {
        if (isThirdOf(ctx)) ctx.emitMessageEvent({ type: 'truncate' });
      }),
      ['cache lost at message 1: `forgetful` truncated the conversation'],
    ],
    [
      'added a message for one turn',
      beforeNext('clock', 'turn', (ctx) => {
        const message = createSystemMessage('Now.', {}, { lifetime: 'turn' });
        if (isThirdOf(ctx)) ctx.emitMessageEvent({ type: 'append', message });
      }),
      ['cache lost at message 6: `clock` added it'],
    ],
    [
      'added a message for one turn in the turn before, too',
      beforeNext('clock', 'turn', (ctx) => {
        const message = createSystemMessage(`Now: ${ctx.turnId}`, {}, { lifetime: 'turn' });
        if (ctx.conversationState.nextMessages.length >= 3) ctx.emitMessageEvent({ type: 'append', message });
      }),
      // The message of the second turn lost the messages. The third turn had nothing more to lose.
      [],
    ],
    [
      'changed a message of the request',
      beforeNext('redactor', 'model', (ctx) => {
        const [prompt, first, ...rest] = ctx.messages;
        if (prompt !== undefined && first !== undefined && rest.length > 3) {
          ctx.messages = [prompt, { role: 'user', content: 'Redacted.' }, ...rest];
        }
      }),
      ['cache lost at message 1: `redactor` replaced it'],
    ],
    [
      'removed a tool',
      beforeNext('tool-search', 'step', (ctx) => {
        if (isThirdOf(ctx)) ctx.toolCatalog = [];
      }),
      ['cache lost at the tools: `tool-search` removed `weather__get`'],
    ],
    [
      'changed the system prompt',
      beforeNext('greeter', 'model', (ctx) => {
        const [, ...rest] = ctx.messages;
        if (isThird(rest)) ctx.messages = [{ role: 'system', content: 'Another prompt.' }, ...rest];
      }),
      ['cache lost at the system prompt: `greeter` replaced it'],
    ],
    [
      'chose another model',
      beforeNext('chooser', 'model', (ctx) => {
        if (isThird(ctx.messages.slice(1))) ctx.modelRef = 'Model/other';
      }),
      ['cache lost at the model: `chooser` chose Model/other instead of Model/claude'],
    ],
    [
      'chose other options of the provider',
      beforeNext('thinker', 'model', (ctx) => {
        const providerOptions = { anthropic: { thinking: { type: 'enabled', budgetTokens: 1_024 } } };
        if (isThird(ctx.messages.slice(1))) ctx.params = { ...ctx.params, providerOptions };
      }),
      ['cache lost at the params: `thinker` changed `providerOptions`'],
    ],
  ])('a layer that %s', async (_did, declared, lost) => {
    await using server = startCached();
    server.answer({ reply: answer });
    const agent = await startAt(server, { extensions: [declared] });
    await say(agent, 'One');
    await say(agent, 'Two');
    const { turn } = await say(agent, 'Three');
    const notes: string[] = renderTrace(turn).match(/cache lost.*/g) ?? [];
    expect(notes).toEqual(lost);
  });

  test('the bundle, when it was read again with another system prompt', async () => {
    await using server = startCached();
    server.answer({ reply: answer });
    const agent = await startAt(server);
    await say(agent, 'One');
    const { parts } = agent;
    parts.plan = { ...parts.plan, systemPrompt: long('Be kind.'), digest: () => 'another plan' };
    parts.warm?.view.changeSystemPrompt(parts.plan.systemPrompt);
    const { turn, calls } = await say(agent, 'Two');
    expect(renderTrace(turn)).toContain('cache lost at the system prompt: the bundle changed it');
    const lost = { at: 'system prompt', by: { kind: 'bundle' }, did: 'changed it' };
    expect(calls[0]?.request?.cacheLost).toMatchObject(lost);
  });

  test('tokens of the cache are in the trace', async () => {
    await using server = startCached();
    server.answer({ reply: answer });
    const agent = await startAt(server);
    const first = await say(agent, 'One');
    const second = await say(agent, 'Two');
    const written = first.calls[0]?.tokens?.cacheWrite;
    expect(renderTrace(first.turn)).toContain(`${written} written to the cache)`);
    expect(second.calls[0]?.tokens).toMatchObject({ cacheRead: written });
    expect(renderTrace(second.turn)).toContain(`(${written} read from the cache, `);
  });
});
