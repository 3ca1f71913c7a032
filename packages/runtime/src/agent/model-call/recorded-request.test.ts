/** Tests the record of model requests in a trace: the digest of each body, and the data to rebuild that body. */
import { describe, expect, test } from 'bun:test';
import {
  createUserMessage,
  type JsonObject,
  type JsonValue,
  type ModelMessage,
  type ModelParams,
  type ToolCatalogItem,
} from '@goondan/types';
import { version as anthropicVersion } from '@ai-sdk/anthropic/package.json';
import type { ModelSpec } from '../../config/model-spec.ts';
import { sha256 } from '../../json/sha256.ts';
import { systemClock } from '../../ports/clock.ts';
import { scriptedAgent } from '../../testing/index.ts';
import { beforeNext } from '../../testing/one-layer.ts';
import { inputEvent } from '../../testing/input-event.ts';
import type { WatchedEffect } from '../../trace/layer-span.ts';
import type { AskedModel } from '../../trace/model-request.ts';
import { recordTurn } from '../../trace/record-turn.ts';
import type { ChainRecord } from '../../trace/turn-trace.ts';
import type { AgentPlan } from '../start/agent-plan.ts';
import { startAgent } from '../start/start-agent.ts';
import { openModel } from './open-model.ts';
import type { Model } from '../model/model-port.ts';
import { openScriptedModel } from '../model/scripted/open-scripted-model.ts';
import { failureOf } from '../model/providers/wire/ask-model.ts';
import { type ProviderCase, providerCases } from '../model/providers/wire/provider-cases.ts';
import { startWireServer } from '../model/providers/wire/wire-server.ts';

type Request = NonNullable<ChainRecord['request']>;

const weather = {
  name: 'weather',
  exports: [{ name: 'get', description: 'The weather of a city.' }],
  handlers: { get: () => ({ tempC: 21 }) },
};

const event = inputEvent('e', { input: 'Weather?' });

/** Changes messages, tools and params of every model call, and the conversation. */
const meddler = beforeNext('meddler', 'model', (ctx) => {
  ctx.messages = [...ctx.messages, { role: 'user', content: `Call ${ctx.stepIndex}: be quick.` }];
  ctx.tools = ctx.tools.map((tool) => ({ ...tool, description: `${tool.description} Step ${ctx.stepIndex}.` }));
  ctx.params = { ...ctx.params, temperature: 0.5 };
});

/** Calls the model in every step, before the step itself calls it. */
const adviser = beforeNext('adviser', 'step', async (ctx) => {
  const question = { role: 'user', content: `What about step ${ctx.stepIndex}?` } as const;
  await ctx.model.generate({ messages: [{ role: 'system', content: 'Advise.' }, question] });
});

function requestsIn(chain: ChainRecord): Request[] {
  return chainsIn(chain).flatMap(({ request }) => request ?? []);
}

function chainsIn(chain: ChainRecord): ChainRecord[] {
  return [chain, ...chain.inside.flatMap(chainsIn)];
}

/** Runs a turn at this server. Returns its model calls, their bodies, and the bodies that their records rebuild. */
async function runAndRebuild(
  { url }: { readonly url: string },
  { provider, model: name }: ProviderCase,
  plan: Partial<AgentPlan>,
  options: JsonObject = {},
) {
  const spec: ModelSpec = { provider, model: name, apiKey: 'k', endpoint: `${url}/v1`, options };
  const sent: string[] = [];
  const agent = await startAgent(
    { agentName: 'a', models: { 'Model/real': spec }, ...plan },
    {
      logSink: () => undefined,
      fetch: (input, init) => {
        sent.push(init?.body as string);
        return fetch(input, init);
      },
    },
  );
  const recorder = recordTurn(systemClock);
  const { result } = await agent.handle(event, { observer: recorder });
  const asking = chainsIn(recorder.turn() as ChainRecord).filter(({ request }) => request !== undefined);
  const { messages } = await agent.parts.store.read(agent.parts.address);
  const data = new Map(messages.map((message) => [message.id, message.data]));
  const rebuilt: string[] = [];
  const keep = (_input: unknown, init?: RequestInit) => {
    rebuilt.push(init?.body as string);
    return Promise.reject(new Error('nothing is sent'));
  };
  const model = await openModel('Model/real', spec, { clock: systemClock, environment: {}, folder: '/', fetch: keep });
  const rest = { signal: new AbortController().signal, turnId: 't', onDelta: () => undefined };
  for (const { effect } of asking) {
    await failureOf(model.generate({ ...rebuild(effect, asking, (id) => data.get(id)), ...rest }));
  }
  return { result, asking, sent, rebuilt };
}

const usage = { input: 1, output: 1, cached: 0 };

describe.each(providerCases)('%s', (_name, provider) => {
  test('V-01 the digest is that of the sent body, and the references are enough to build it again', async () => {
    await using server = startWireServer(provider.dialect);
    const calls = [{ id: 'call-1', name: 'weather__get', args: { city: 'Seoul' } }];
    const advice = { reply: { usage, text: ['Go on.'] } };
    server.answer(advice, { reply: { usage, calls } }, advice, { reply: { usage, text: ['21 degrees.'] } });
    // The prompt is long enough for cache breakpoints, which depend on `stableCount`.
    const plan = { systemPrompt: 'Be brief. '.repeat(500), tools: [weather], extensions: [meddler, adviser] };
    const { asking, sent, rebuilt } = await runAndRebuild(server, provider, plan);
    const requests = asking.flatMap(({ request }) => request ?? []);
    expect(requests).toHaveLength(4);
    expect(requests.map(({ bodyDigest }) => bodyDigest)).toEqual(sent.map((body) => sha256(body)));
    for (const request of requests) {
      const { provider: name, model } = provider;
      expect(request).toMatchObject({ provider: name, model, params: { temperature: 0.5 } });
    }
    expect(requests[3]?.references?.after?.effect).toBe(asking[1]?.effect as string);
    expect(rebuilt).toEqual(sent);
  });

  test('Y-01 the schema of an answer is recorded once per run, and is part of the rebuilt body', async () => {
    await using server = startWireServer(provider.dialect);
    server.answer({ reply: { usage, text: ['Warm.'] } }, { reply: { usage, text: ['{"tempC":21}'] } });
    const properties = { tempC: { type: 'number' } };
    const schema = { type: 'object', properties, required: ['tempC'], additionalProperties: false };
    const options = { schemaMode: 'native' };
    const { result, asking, sent, rebuilt } = await runAndRebuild(server, provider, { output: { schema } }, options);
    expect(result.output).toEqual({ tempC: 21 });
    const schemas = asking.map(({ request }) =>
      Object.values(request?.parts ?? {}).filter((part) => Bun.deepEquals(part, schema)),
    );
    expect(schemas.map(({ length }) => length)).toEqual([1, 0]);
    expect(rebuilt).toEqual(sent);
  });
});

/** Rebuilds the request of one of these chains. */
function rebuild(
  effect: string | undefined,
  chains: readonly ChainRecord[],
  conversation: (id: string) => ModelMessage | undefined,
) {
  const parts: Record<string, JsonValue> = Object.assign({}, ...chains.map(({ request }) => request?.parts));
  const requestOf = (key: string | undefined) => chains.find((chain) => chain.effect === key)?.request;
  const messagesOf = (key: string | undefined): ModelMessage[] => {
    const { after, more = [] } = requestOf(key)?.references ?? {};
    return [
      ...(after === undefined ? [] : messagesOf(after.effect).slice(0, after.count)),
      ...(more.map(({ id, digest }) => (id === undefined ? parts[digest] : conversation(id))) as ModelMessage[]),
    ];
  };
  const { tools = {}, params = {}, stableCount, output } = requestOf(effect) ?? {};
  return {
    stableCount,
    messages: messagesOf(effect),
    tools: Object.values(tools).map((digest) => parts[digest]) as unknown as ToolCatalogItem[],
    params: params as ModelParams,
    ...(output !== undefined && { outputSchema: parts[output] as JsonObject }),
  };
}

test('a model reports a request when it is sent, with the package that made it and its version', async () => {
  const sent: unknown[] = [];
  await using server = startWireServer(providerCases.find(([name]) => name === 'anthropic')?.[1].dialect as never);
  const model = await openModel(
    'Model/m',
    { provider: 'anthropic', model: 'claude', apiKey: 'k', endpoint: `${server.url}/v1` },
    {
      clock: systemClock,
      environment: {},
      folder: '/',
      fetch: () => {
        sent.push('on its way');
        return Promise.reject(new Error('no'));
      },
    },
  );
  const asked = { messages: [{ role: 'user', content: 'Hi' }], tools: [], params: {}, turnId: 't' } as const;
  const signal = new AbortController().signal;
  await failureOf(
    model.generate({ ...asked, signal, onDelta: () => undefined, onSent: (each) => void sent.push(each) }),
  );
  expect(sent).toMatchObject([
    'on its way',
    { package: `@ai-sdk/anthropic@${anthropicVersion}`, model: 'claude', body: expect.stringContaining('Hi') },
  ]);
});

test('a body is hashed only when the turn is recorded, and is not kept', async () => {
  let read = 0;
  const sent = {
    provider: 'own',
    get body() {
      read += 1;
      return 'the body';
    },
  };
  const scripted = openScriptedModel({ script: [{ say: 'done' }] }, systemClock);
  const model: Model = {
    generate: (request) => scripted.generate({ ...request, onSent: () => request.onSent?.(sent) }),
  };
  const agent = await startAgent({ agentName: 'a', models: { 'Model/own': model } }, { logSink: () => undefined });
  await agent.handle(event);
  expect(read).toBe(0);
  const recorded: WatchedEffect[] = [];
  const observer = { chain: () => undefined, effect: (effect: WatchedEffect) => void recorded.push(effect) };
  await agent.handle({ ...event, id: 'e2' }, { observer });
  expect(read).toBe(1);
  expect(recorded.map(({ asked }) => (asked as AskedModel).sent)).toEqual([
    { provider: 'own', bodyDigest: sha256('the body') },
  ]);
});

describe('on the scripted model', () => {
  const script = [{ when: '^Call [0-8]:', call: { tool: 'weather__get', args: { city: 'Seoul' } } }, { say: 'done' }];

  async function traceOf(secrets: readonly string[] = []): Promise<readonly ChainRecord[]> {
    const plan = { systemPrompt: 'Be brief, password1.', secrets };
    const agent = await scriptedAgent({ script, tools: [weather], extensions: [meddler], ...plan });
    const { trace } = await agent.say('go');
    return chainsIn(trace as ChainRecord);
  }

  test('a step has the digest of its plan, a model call its request, a tool call its arguments and result', async () => {
    const chains = await traceOf();
    const steps = chains.filter(({ kind }) => kind === 'step');
    expect(steps).toHaveLength(10);
    expect(new Set(steps.map(({ plan }) => plan)).size).toBe(1);
    expect(steps[0]?.plan).toMatch(/^[0-9a-f]{64}$/);
    const [first, second] = requestsIn(chains[0] as ChainRecord);
    expect(first).toMatchObject({ provider: 'scripted', bodyDigest: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(second?.bodyDigest).not.toBe(first?.bodyDigest as string);
    expect(chains.find(({ kind }) => kind === 'toolCall')).toMatchObject({
      effect: expect.any(String),
      args: { city: 'Seoul' },
      result: { status: 'ok', output: { tempC: 21 } },
    });
  });

  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  test.each([
    ['a cycle', cycle],
    ['a bigint', 1n],
  ])('a step has no digest of a plan with %s in it', async (_what, held) => {
    const model = Object.assign(openScriptedModel({ script }, systemClock), { held });
    const agent = await startAgent({ agentName: 'a', models: { 'Model/own': model } }, { logSink: () => undefined });
    const recorder = recordTurn(systemClock);
    await agent.handle(event, { observer: recorder });
    const step = chainsIn(recorder.turn() as ChainRecord).find(({ kind }) => kind === 'step');
    expect(step).toMatchObject({ label: '0' });
    expect(step).not.toHaveProperty('plan');
  });

  test('equal requests have equal digests, and equal plans too', async () => {
    const digests = async () =>
      (await traceOf()).flatMap(({ plan, request }) =>
        [plan, request?.bodyDigest].filter((each) => each !== undefined),
      );
    expect(await digests()).toEqual(await digests());
  });

  test('a message of an earlier request is referred to, not written again', async () => {
    const [first, second] = requestsIn((await traceOf())[0] as ChainRecord);
    const [system, , extra] = Object.values(first?.parts ?? {});
    expect(system).toMatchObject({ role: 'system' });
    expect(extra).toBeDefined();
    expect(second?.references?.after).toEqual({ effect: '0/model', count: 2 });
    expect(second?.references?.more.map(({ id }) => id?.replace(/^.*\.step/, 'step'))).toEqual([
      'step-0.reply',
      'step-0.result-0',
      undefined,
    ]);
    expect(JSON.stringify(second?.parts)).not.toContain('Be brief');
  });

  test('messages of a step that is rolled back keep their ids', async () => {
    const noter = beforeNext('noter', 'step', (ctx) =>
      ctx.emitMessageEvent({ type: 'append', message: createUserMessage('A note.', {}, { id: 'note' }) }),
    );
    const fail = { message: 'busy', retryable: true, times: 1 };
    const agent = await scriptedAgent({ script: [{ fail }, { say: 'done' }], extensions: [noter] });
    const { trace } = await agent.say('go');
    const [failed, retried] = requestsIn(trace as ChainRecord);
    expect(failed?.references?.more.map(({ id }) => id)).toEqual([expect.any(String), 'note']);
    expect(failed?.parts).toBeUndefined();
    expect(retried?.references?.after?.count).toBe(2);
  });

  test('the record of a request grows with its new messages, not with the length of the conversation', async () => {
    const requests = requestsIn((await traceOf())[0] as ChainRecord);
    expect(requests.map(({ references }) => references?.more.length)).toEqual([3, ...Array<number>(9).fill(3)]);
    expect(requests.at(-1)?.messages.count).toBe(21);
  });

  test('the first request of a turn refers to a long conversation with one entry', async () => {
    const turns = 30;
    const agent = await scriptedAgent({ script: [{ say: 'done' }], systemPrompt: 'Be brief.' });
    let trace: ChainRecord | undefined;
    for (let turn = 0; turn < turns; turn++) ({ trace } = await agent.say(`Question ${turn}`));
    const messages = await agent.messages();
    const [request] = requestsIn(trace as ChainRecord);
    const [prompt, run, ...others] = request?.references?.more ?? [];
    expect(prompt).toEqual({ digest: expect.any(String) });
    const asked = messages.slice(0, -1);
    expect(run).toEqual({ id: asked[0]?.id, to: asked.at(-1)?.id, count: 59, digest: expect.any(String) } as never);
    expect(others).toEqual([]);
    expect(request?.messages.count).toBe(60);
  });

  test('a layer that calls the model in every step does not make the steps list the conversation again', async () => {
    const agent = await scriptedAgent({ script, tools: [weather], extensions: [meddler, adviser] });
    const { trace } = await agent.say('go');
    const listed = (by: string | undefined) =>
      chainsIn(trace as ChainRecord).flatMap((chain) =>
        chain.by?.extension === by ? (chain.request?.references?.more.length ?? []) : [],
      );
    expect(listed(undefined)).toEqual([2, ...Array<number>(9).fill(3)]);
    // Each later request adds two messages: the adviser's question, and the meddler's message.
    expect(listed('adviser')).toEqual([3, ...Array<number>(9).fill(2)]);
  });

  test('secrets are masked in the record of a request', async () => {
    const [first] = requestsIn((await traceOf(['password1']))[0] as ChainRecord);
    expect(JSON.stringify(first)).not.toContain('password1');
    expect(JSON.stringify(first?.parts)).toContain('Be brief, ***.');
  });
});
