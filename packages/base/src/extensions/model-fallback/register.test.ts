import { afterEach, describe, expect, setSystemTime, test } from 'bun:test';
import type { ExtensionRegister, JsonObject, ModelFailure, ModelMessage } from '@goondan/types';
import { memoryStore } from '@goondan/runtime/history';
import { extension, type ScriptedAgentOptions } from '@goondan/runtime/testing';
import {
  anthropicCase,
  compatibleCase,
  googleCase,
  openaiCase,
  type ProviderCase,
  providerCases,
} from '../../../../runtime/src/agent/model/providers/wire/provider-cases.ts';
import type { WireReply } from '../../../../runtime/src/agent/model/providers/wire/wire-dialect.ts';
import {
  startWireServer,
  type WireAnswer,
  type WireServer,
} from '../../../../runtime/src/agent/model/providers/wire/wire-server.ts';
import { agentOpener, baseExtension } from '../../testing/base-extension.ts';

const openAgent = agentOpener();

const falling = (config: JsonObject) => baseExtension('model-fallback', config);

const usage = { input: 1, output: 1, cached: 0 };
const answer: WireReply = { usage, text: ['From the spare.'] };

/** A model at a local server. */
const at = (server: Pick<WireServer, 'url'>, { provider, model, path }: ProviderCase, options: JsonObject = {}) => ({
  provider,
  model,
  apiKey: 'k',
  endpoint: `${server.url}/${path.split('/')[1] ?? ''}`,
  options,
});

/** A scripted model that fails in one way, or answers with its name. */
const scripted = (name: string, failure?: ModelFailure, more: JsonObject = {}) => ({
  provider: 'scripted',
  model: name,
  options: {
    script: [
      failure === undefined ? { say: `I am ${name}.` } : { fail: { message: `${name} is down`, failure, ...more } },
    ],
  },
});

/** Starts an agent whose own model is `Model/a`. */
const start = (models: Record<string, unknown>, config: JsonObject = {}, options: ScriptedAgentOptions = {}) =>
  openAgent({
    modelRef: 'Model/a',
    // Safe: the tests write specs of models.
    models: models as NonNullable<ScriptedAgentOptions['models']>,
    ...options,
    extensions: [...(options.extensions ?? []), falling({ models: ['Model/b', 'Model/c'], ...config })],
  });

/** Returns the model of each call of a turn, as it was after the layers. */
const callsIn = (trace: Awaited<ReturnType<Awaited<ReturnType<typeof openAgent>>['say']>>['trace']) =>
  trace?.inside.flatMap((step) => step.inside.flatMap(({ request }) => request?.modelRef ?? [])) ?? [];

afterEach(() => void setSystemTime());

describe.each(providerCases)('Y-06 %s as the first model', (_name, provider) => {
  const refusal = (status: number, type: string, message = 'No.'): WireAnswer => ({
    status,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(provider.dialect.error(status, type, message)),
  });
  const { errorTypes, tooLong } = provider;

  /** Asks once, and returns the answer or the code, and the number of requests that each server got. */
  async function ask(trouble: WireAnswer | undefined, config: JsonObject = {}) {
    await using first = startWireServer(provider.dialect);
    await using spare = startWireServer(compatibleCase.dialect);
    first.answer(trouble ?? 'nothing');
    spare.answer({ reply: answer });
    const url = trouble === undefined ? await closedAddress() : first.url;
    const models = {
      // Only the timeout itself has a short limit, because a busy machine may need long for an answer.
      'Model/a': at({ url }, provider, { timeouts: { silenceMs: trouble === 'nothing' ? 200 : 30_000 } }),
      'Model/b': at(spare, compatibleCase),
    };
    const policy = { maxStepRetries: 0 };
    const tested = await start(models, { models: ['Model/b'], ...config }, { policy });
    const { text, result } = await tested.say('Hello?');
    return [result.error?.code ?? text, first.requests.length, spare.requests.length];
  }

  test.each([
    ['429', refusal(429, errorTypes.rate), 1],
    ['500', refusal(500, errorTypes.server), 1],
    ['529', refusal(529, errorTypes.server), 1],
    ['a timeout', 'nothing', 1],
    ['no connection', undefined, 0],
  ] as const)('falls back on %s', async (_what, trouble, asked) => {
    expect(await ask(trouble)).toEqual(['From the spare.', asked, 1]);
  });

  test.each([
    ['400', refusal(400, errorTypes.bad), 'E_MODEL_FAILED'],
    ['401', refusal(401, errorTypes.auth), 'E_MODEL_AUTH'],
    ['a conversation that is too long', refusal(tooLong.status, tooLong.type, tooLong.message), 'E_MODEL_CONTEXT'],
  ] as const)('does not fall back on %s', async (_what, trouble, code) => {
    expect(await ask(trouble)).toEqual([code, 1, 0]);
  });

  test('falls back on 401 if the config lists it', async () => {
    expect(await ask(refusal(401, errorTypes.auth), { failures: ['auth'] })).toEqual(['From the spare.', 1, 1]);
  });
});

describe('Y-06 model-fallback', () => {
  test('reaches the third model at once, without a retry of the policy, and the trace says why', async () => {
    const models = {
      'Model/a': scripted('a', 'rate-limit', { retryable: true, retryAfterMs: 60_000 }),
      'Model/b': scripted('b', 'server'),
      'Model/c': scripted('c'),
    };
    const tested = await start(models, {}, { policy: { maxStepRetries: 0, retryBaseMs: 60_000 } });
    const { text, trace } = await tested.say('Who?');
    expect(text).toBe('I am c.');
    expect(callsIn(trace)).toEqual(['Model/a', 'Model/b', 'Model/c']);
    const layers = trace?.inside.map((step) => step.inside[0]?.layers[0]);
    expect(layers?.[0]?.error).toBe('E_MODEL_FAILED: Model/a failed (rate-limit), Model/b takes over: a is down');
    expect(layers?.[2]?.changed).toEqual([
      { path: 'modelRef', before: 'Model/a', after: 'Model/c' },
      { path: 'modelReason', after: 'Model/b failed (server)' },
    ]);
  });

  test('stays with the model that took over, and says why in every turn', async () => {
    const store = memoryStore();
    const models = { 'Model/a': scripted('a', 'timeout'), 'Model/b': scripted('b') };
    const first = await start(models, { models: ['Model/b'] }, { store });
    expect(callsIn((await first.say('One')).trace)).toEqual(['Model/a', 'Model/b']);
    setSystemTime(new Date(Date.now() + 3_600_000));
    expect(callsIn((await first.say('Two')).trace)).toEqual(['Model/b']);
    await first.close();
    // Another process, in which the first model works again.
    const second = await start({ ...models, 'Model/a': scripted('a') }, { models: ['Model/b'] }, { store });
    const { trace } = await second.say('Three', { event: { id: 'third' } });
    expect(callsIn(trace)).toEqual(['Model/b']);
    expect(trace?.inside[0]?.inside[0]?.layers[0]?.changed).toContainEqual({
      path: 'modelReason',
      after: 'Model/a failed (timeout)',
    });
    await second.close();
  });

  test('without `sticky`, goes back to the first model after the cooldown', async () => {
    const models = { 'Model/a': scripted('a', 'server', { times: 1 }), 'Model/b': scripted('b') };
    const tested = await start(models, { models: ['Model/b'], sticky: false, cooldownMs: 1_000 });
    setSystemTime(new Date('2026-01-01T00:00:00Z'));
    expect(callsIn((await tested.say('One')).trace)).toEqual(['Model/a', 'Model/b']);
    setSystemTime(new Date('2026-01-01T00:00:00.999Z'));
    expect(callsIn((await tested.say('Two')).trace)).toEqual(['Model/b']);
    setSystemTime(new Date('2026-01-01T00:00:01.001Z'));
    const { trace } = await tested.say('Three');
    expect(callsIn(trace)[0]).toBe('Model/a');
  });

  test('cools a model down at least as long as the provider asks', async () => {
    const limited = scripted('a', 'rate-limit', { retryAfterMs: 5_000 });
    const tested = await start(
      { 'Model/a': limited, 'Model/b': scripted('b') },
      { models: ['Model/b'], cooldownMs: 0 },
    );
    setSystemTime(new Date('2026-01-01T00:00:00Z'));
    await tested.say('One');
    expect(await tested.stateOf('model-fallback')).toEqual({
      instead: { 'Model/a': { model: 'Model/b', reason: 'Model/a failed (rate-limit)' } },
      cooling: { 'Model/a': Date.parse('2026-01-01T00:00:05Z') },
    });
  });

  test('when all models fail, the retries of the policy follow, and then the last error', async () => {
    const models = {
      'Model/a': scripted('a', 'server', { retryable: true }),
      'Model/b': scripted('b', 'server', { retryable: true }),
    };
    const tested = await start(models, { models: ['Model/b'], cooldownMs: 0 }, { policy: { maxStepRetries: 1 } });
    const { result, trace } = await tested.say('Anybody?');
    expect(result.error).toMatchObject({ code: 'E_MODEL_FAILED', message: 'b is down' });
    expect(callsIn(trace)).toEqual(['Model/a', 'Model/b', 'Model/a', 'Model/b']);
  });

  test('takes over calls by layers, around a turn and around a step', async () => {
    const adviser = extension('adviser', ({ pipeline }) => {
      const ask = { messages: [{ role: 'user', content: 'Advise.' }] satisfies ModelMessage[] };
      pipeline.register('turn', async (ctx) => {
        const { content } = await ctx.model.generate(ask);
        ctx.metadata['advice'] = JSON.stringify(content);
        return ctx.next();
      });
      pipeline.register('step', async (ctx) => {
        await ctx.model.generate({ ...ask, modelRef: 'Model/b' });
        return ctx.next();
      });
    });
    const models = {
      'Model/a': scripted('a', 'unreachable'),
      'Model/b': scripted('b', 'server'),
      'Model/c': scripted('c'),
    };
    const tested = await start(models, {}, { extensions: [adviser], policy: { maxStepRetries: 0 } });
    const { text, trace, result } = await tested.say('Who?');
    expect(result.error).toBeUndefined();
    expect(text).toBe('I am c.');
    const own = trace?.inside.flatMap((chain) => (chain.kind === 'model' ? (chain.request?.modelRef ?? []) : []));
    expect(own).toEqual(['Model/a', 'Model/b', 'Model/c']);
    expect(tested.logs.flatMap(({ level, message }) => (level === 'warn' ? [message] : []))).toEqual([
      'A model call failed and is made again: Model/a failed (unreachable), Model/b takes over: a is down',
      'A model call failed and is made again: Model/b failed (server), Model/c takes over: b is down',
    ]);
  });

  test('anthropic, then openai, then google: each gets a conversation without the parts of the others', async () => {
    await using claude = startWireServer(anthropicCase.dialect);
    await using gpt = startWireServer(openaiCase.dialect);
    await using gemini = startWireServer(googleCase.dialect);
    const down: WireAnswer = { status: 503, body: '{"error":{"message":"Down."}}' };
    const thinking = (from: string): WireReply => ({
      usage,
      reasoning: { text: `thoughts of ${from}`, signature: `signature of ${from}` },
      calls: [{ id: `call-${from}`, name: 'weather__get', args: { city: 'Seoul' }, signature: `call of ${from}` }],
    });
    const said = (from: string): WireAnswer => ({ reply: { usage, text: [`from ${from}`] } });
    claude.answer({ reply: thinking('claude') }, said('claude'), down);
    gpt.answer({ reply: { usage, calls: thinking('gpt').calls ?? [] } }, said('gpt'), down);
    gemini.answer({ reply: thinking('gemini') }, said('gemini'));
    const weather = {
      name: 'weather',
      exports: [{ name: 'get', description: 'The weather.' }],
      handlers: { get: () => 'sunny' },
    };
    // Parts of tools that Anthropic runs itself, and of a kind that only Anthropic knows.
    const searching = extension('searching', ({ pipeline }) => {
      pipeline.register('model', async (ctx) => {
        const reply = await ctx.next();
        const providerOptions = { anthropic: {} };
        if (ctx.modelRef !== 'Model/a' || reply.finishReason !== 'stop') return reply;
        const ran = { toolCallId: 'server-1', toolName: 'code_execution', providerOptions };
        return {
          ...reply,
          content: [
            { type: 'tool-call', ...ran, input: { code: 'of claude' }, providerExecuted: true },
            { type: 'tool-result', ...ran, output: { type: 'json', value: { of: 'claude' } } },
            { type: 'custom', kind: 'anthropic.source', providerOptions: { goondan: { part: { type: 'source' } } } },
            ...reply.content,
          ],
        };
      });
    });
    const models = {
      'Model/a': at(claude, anthropicCase),
      'Model/b': at(gpt, openaiCase),
      'Model/c': at(gemini, googleCase),
    };
    const tested = await start(models, {}, { tools: [weather], extensions: [searching] });
    const answers = [];
    for (const input of ['One', 'Two', 'Three']) answers.push((await tested.say(input)).text);
    expect(answers).toEqual(['from claude', 'from gpt', 'from gemini']);
    for (const { body } of [...gpt.requests, ...gemini.requests]) {
      const sent = JSON.stringify(body);
      expect(sent).toContain('from claude');
      expect(sent).not.toMatch(/(thoughts|signature|call) of claude|code_execution|server-1/);
    }
    const last = JSON.stringify(gemini.requests.at(-1)?.body);
    expect(last).toContain('from gpt');
    expect(last).toContain('thoughts of gemini');
  });
});

/** Returns an address at which nobody listens. */
async function closedAddress(): Promise<string> {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } });
  const url = `http://127.0.0.1:${listener.port}`;
  listener.stop(true);
  return url;
}

describe('Y-06 a model that has failed', () => {
  const eager = { sticky: false, cooldownMs: 0 };

  test('is asked again in the next step, and its takeover is over when it answers', async () => {
    const a = {
      ...scripted('a'),
      options: { script: [{ fail: { message: 'down', failure: 'server', times: 1 } }, { say: 'I am a.' }] },
    };
    const b = { ...scripted('b'), options: { script: [{ call: { tool: 'clock__now' } }] } };
    const clock: ExtensionRegister = ({ tools }) => {
      tools.register({ name: 'clock__now', description: 'Tells the time.' }, () => 'noon');
    };
    const models = { 'Model/a': a, 'Model/b': b, 'Model/c': scripted('c') };
    const tested = await start(models, eager, { extensions: [extension('clock', clock)] });
    const { text, trace } = await tested.say('Hi');
    expect([text, callsIn(trace)]).toEqual(['I am a.', ['Model/a', 'Model/b', 'Model/a']]);
    expect(await tested.stateOf('model-fallback')).toEqual({ instead: {}, cooling: {} });
  });

  test('in a call by a layer has not failed in the call of the step', async () => {
    const asking: ExtensionRegister = ({ pipeline }) => {
      pipeline.register('step', async (ctx) => {
        await ctx.model.generate({ messages: [{ role: 'user', content: 'Hm?' }] });
        return ctx.next();
      });
    };
    const models = { 'Model/a': scripted('a', 'server'), 'Model/b': scripted('b'), 'Model/c': scripted('c') };
    const tested = await start(models, eager, { extensions: [extension('asking', asking)] });
    expect((await tested.say('Hi')).text).toBe('I am b.');
  });

  test('is not replaced if another layer has chosen it', async () => {
    const choosing: ExtensionRegister = ({ pipeline }) => {
      pipeline.register(
        'model',
        (ctx) => {
          ctx.modelRef = 'Model/c';
          return ctx.next();
        },
        { priority: 2_000 },
      );
    };
    const models = { 'Model/a': scripted('a'), 'Model/b': scripted('b'), 'Model/c': scripted('c', 'server') };
    const policy = { maxStepRetries: 0 };
    const tested = await start(models, {}, { policy, extensions: [extension('choosing', choosing)] });
    const { result, trace } = await tested.say('Hi');
    expect([result.error?.message, callsIn(trace)]).toEqual([expect.stringContaining('c is down'), ['Model/c']]);
    expect(await tested.stateOf('model-fallback')).toBeUndefined();
  });
});
