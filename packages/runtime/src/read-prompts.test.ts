/** Tests the prompts of recorded turns: authors, exactness, and everything that can be missing. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createSystemMessage,
  createUserMessage,
  GoondanError,
  type ModelMessage,
  type ModelMiddlewareContext,
  type StepMiddlewareContext,
  type TurnMiddlewareContext,
} from '@goondan/types';
import { openaiCase } from './agent/model/providers/wire/provider-cases.ts';
import { startWireServer } from './agent/model/providers/wire/wire-server.ts';
import type { Model } from './agent/model/model-port.ts';
import type { AgentPlan } from './agent/start/agent-plan.ts';
import { type PromptsQuestion, readPrompts } from './read-prompts.ts';
import { openStoreReader } from './store/files/open-store-reader.ts';
import { recordedAgent } from './testing/record-prompts.ts';
import { extension } from './testing/index.ts';
import { emptyStart } from './workspace/history/history-start.ts';
import type { HistorySource } from './workspace/history/read-history.ts';
import { durableStore } from './workspace/journal/durable-store.ts';
import type { Journal } from './workspace/journal/journal.ts';
import { readRequests } from './workspace/traces/read-requests.ts';
import { rejectionOf } from './workspace/simulation/rejection-of.ts';
import type { PartAuthor } from './workspace/traces/rebuilt-call.ts';

let stateRoot: string;
let journal: Journal;
const place = () => ({ stateRoot, workspaceId: 'w', warn: () => undefined });

beforeEach(async () => {
  stateRoot = mkdtempSync(join(tmpdir(), 'prompts-'));
  journal = await durableStore(place());
});
afterEach(async () => {
  await journal.close();
  rmSync(stateRoot, { recursive: true });
});

const start = (plan: Partial<AgentPlan>) =>
  recordedAgent(
    { agentName: 'a', models: { 'Model/m': scripted() }, ...plan },
    { store: journal, traceSink: { open: (instance) => journal.openTraces(instance) } },
  );

function scripted(...script: object[]) {
  return { provider: 'scripted', model: 'm', options: { script: [...script, { say: 'done' }] as never } };
}

const weather = {
  name: 'weather',
  exports: [{ name: 'get', description: 'The weather of a city.' }],
  handlers: { get: () => ({ tempC: 21 }) },
};
const look = { when: '^look', call: { tool: 'weather__get', args: {} } };

interface Contexts {
  readonly turn: TurnMiddlewareContext;
  readonly step: StepMiddlewareContext;
  readonly model: ModelMiddlewareContext;
}

/** An extension with one layer that uses its context, and then calls `next`. */
function layer<Kind extends keyof Contexts>(name: string, kind: Kind, use: (ctx: Contexts[Kind]) => unknown) {
  const middleware = async (ctx: Contexts[Kind]) => {
    await use(ctx);
    return ctx.next();
  };
  // The compiler does not relate the kind to its context.
  return extension(name, ({ pipeline }) => pipeline.register(kind as 'turn', middleware as never));
}

async function promptsOf(question: PromptsQuestion = {}) {
  const reader = openStoreReader(place());
  try {
    return await readPrompts(reader, question);
  } finally {
    await reader.close();
  }
}

/** Runs one turn of an agent. */
async function sayHello(plan: Partial<AgentPlan>): Promise<void> {
  const agent = await start(plan);
  await agent.say('Hello');
  await agent.close();
}

async function onlyCallOf(plan: Partial<AgentPlan>) {
  await sayHello(plan);
  const [call, ...more] = (await promptsOf()).calls;
  if (call === undefined || more.length > 0) throw new Error('The turn must have one call.');
  return call;
}

/** Formats an author in one word. */
function shortly(author: PartAuthor): string {
  switch (author.kind) {
    case 'conversation':
      return author.author.kind === 'extension' ? `extension ${author.author.name}` : author.author.kind;
    case 'layer':
      return `layer ${author.layer.extension}/${author.layer.kind}${author.offeredBy ? ` of ${author.offeredBy}` : ''}`;
    case 'tool':
      return author.offeredBy;
    case 'model':
      return author.ref;
    case 'prompt':
      return `prompt of ${author.agent}`;
    case 'runtime':
    case 'unknown':
      return author.kind;
    default:
      return `${author.kind} ${author.name}`;
  }
}

/** Formats the messages of a call as `text: author`. */
function messagesOf({ request }: Awaited<ReturnType<typeof promptsOf>>['calls'][number]): string[] {
  return request.messages.map(({ message, author }) => `${textOf(message)}: ${shortly(author)}`);
}

function textOf(message: ModelMessage | undefined): string {
  if (message === undefined) return '?';
  return typeof message.content === 'string' ? message.content : message.role;
}

describe('authors', () => {
  test('V-01 each part names the person, resource or layer that put it there', async () => {
    const outer = extension('outer', ({ pipeline, tools }) => {
      tools.register({ name: 'outer__note', description: 'Takes a note.' }, () => 'noted');
      pipeline.register('step', (ctx) => {
        ctx.emitMessageEvent({
          type: 'append',
          message: createSystemMessage('Noted.', {}, { id: `n${ctx.stepIndex}` }),
        });
        ctx.toolCatalog = [...ctx.toolCatalog, { name: 'added__tool', description: 'Added.' }];
        return ctx.next();
      });
      pipeline.register('model', (ctx) => {
        ctx.messages = [...ctx.messages, { role: 'user', content: 'Hurry.' }];
        ctx.params = { ...ctx.params, temperature: 0.5 };
        return ctx.next();
      });
    });
    const inner = layer('inner', 'model', (ctx) => {
      ctx.messages = ctx.messages.map((each) =>
        each.content === 'Hurry.' ? { role: 'user', content: 'Relax.' } : each,
      );
      ctx.tools = ctx.tools.map((tool) => (tool.name === 'weather__get' ? { ...tool, description: 'New.' } : tool));
      ctx.modelRef = 'Model/other';
    });
    const call = await onlyCallOf({
      systemPrompt: 'Be brief.',
      models: { 'Model/m': scripted(), 'Model/other': scripted({ when: 'Relax', say: 'ok' }) },
      params: { maxTokens: 100, temperature: 1 },
      tools: [weather],
      extensions: [outer, inner],
    });
    expect(call).toMatchObject({ isExact: true, step: 0, problems: [], reply: { finishReason: 'stop' } });
    expect(messagesOf(call)).toEqual([
      'Be brief.: prompt of a',
      'Hello: input',
      'Noted.: extension outer',
      'Relax.: layer inner/model',
    ]);
    expect(call.request.tools.map(({ name, author }) => `${name}: ${shortly(author)}`)).toEqual([
      'weather__get: layer inner/model of Tool/weather',
      'outer__note: Extension/outer',
      'added__tool: layer outer/step',
    ]);
    expect(call.request.params.map(({ name, value, author }) => [name, value, shortly(author)])).toEqual([
      ['maxTokens', 100, 'agent a'],
      ['temperature', 0.5, 'layer outer/model'],
    ]);
    expect([call.request.modelRef, shortly(call.request.modelAuthor)]).toEqual(['Model/other', 'layer inner/model']);
  });

  test('a call that a layer makes has the messages, tools and params of its extension', async () => {
    const adviser = layer('adviser', 'turn', async (ctx) => {
      const said = ctx.conversationState.nextMessages.map(({ data }) => data);
      const messages: ModelMessage[] = [{ role: 'system', content: 'Advise.' }, ...said];
      await ctx.model.generate({ messages, tools: [{ name: 'own', description: 'Own.' }], params: { seed: 1 } });
    });
    await sayHello({ params: { temperature: 1 }, tools: [weather], extensions: [adviser] });
    const [advice, own] = (await promptsOf()).calls;
    expect(advice).toMatchObject({ isExact: true, by: { extension: 'adviser' } });
    expect(advice).not.toHaveProperty('step');
    expect(own).toMatchObject({ isExact: true, step: 0 });
    if (advice === undefined) throw new Error('no call');
    expect(messagesOf(advice)).toEqual(['Advise.: extension adviser', 'Hello: input']);
    expect(advice.request.tools.map(({ author }) => shortly(author))).toEqual(['extension adviser']);
    expect(advice.request.params.map(({ name, author }) => `${name}: ${shortly(author)}`)).toEqual([
      'temperature: agent a',
      'seed: extension adviser',
    ]);
    expect(shortly(advice.request.modelAuthor)).toBe('agent a');
  });

  test('V-01 messages that an extension copied for its own call keep their authors in the request of the step', async () => {
    const copier = layer('copier', 'step', async (ctx) => {
      const said = structuredClone(ctx.conversationState.nextMessages.map(({ data }) => data));
      await ctx.model.generate({ messages: [{ role: 'system', content: 'Be brief.' }, ...said] });
    });
    await sayHello({ systemPrompt: 'Be brief.', extensions: [copier] });
    const own = (await promptsOf()).calls.find(({ by }) => by === undefined);
    if (own === undefined) throw new Error('no call');
    expect(messagesOf(own)).toEqual(['Be brief.: prompt of a', 'Hello: input']);
  });

  test('V-01 equal messages of the prompt and of a layer have an unknown author, not a wrong one', async () => {
    const echo = layer('echo', 'model', (ctx) => {
      ctx.messages = [...ctx.messages, { role: 'system', content: 'Be brief.' }];
    });
    const call = await onlyCallOf({ systemPrompt: 'Be brief.', extensions: [echo] });
    expect(call.isExact).toBe(true);
    expect(messagesOf(call)).toEqual(['Be brief.: unknown', 'Hello: input', 'Be brief.: unknown']);
  });

  test('V-01 the schema of the answer names the agent or the asker that demanded it', async () => {
    await using server = startWireServer(openaiCase.dialect);
    const usage = { input: 1, output: 1, cached: 0 };
    server.answer({ reply: { usage, text: ['{"city":"Seoul"}'] } });
    const { provider, model } = openaiCase;
    const spec = { provider, model, apiKey: 'k', endpoint: `${server.url}/v1` };
    const schema = {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    };
    await sayHello({ models: { 'Model/m': spec }, output: { schema } });
    const ofAgent = await promptsOf();
    expect(ofAgent.calls).toMatchObject([
      { isExact: true, request: { outputAuthor: { kind: 'agent', name: 'a' }, fields: { outputSchema: schema } } },
    ]);
    change(/"event":\{/, `"event":{"output":{"schema":${JSON.stringify(schema)}},`);
    const ofAsker = await promptsOf();
    expect(ofAsker.calls.map(({ request }) => request.outputAuthor && shortly(request.outputAuthor))).toEqual([
      'input',
    ]);
  });

  test('a result that the runtime added is its own, and one that it split keeps its author', async () => {
    const filler = layer('filler', 'turn', (ctx) => {
      const part = (type: 'tool-call', id: string) => ({ type, toolCallId: id, toolName: 'weather__get', input: {} });
      const calls = ['one', 'two', 'three'].map((id) => part('tool-call', id));
      const results = ['one', 'two'].map((toolCallId) => ({
        type: 'tool-result' as const,
        toolCallId,
        toolName: 'weather__get',
        output: { type: 'text' as const, value: toolCallId },
      }));
      const { message } = { message: createUserMessage('x', {}, { id: 'x' }) };
      ctx.emitMessageEvent({
        type: 'append',
        message: { ...message, id: 'calls', data: { role: 'assistant', content: calls } },
      });
      ctx.emitMessageEvent({
        type: 'append',
        message: { ...message, id: 'results', data: { role: 'tool', content: results } },
      });
    });
    const call = await onlyCallOf({ extensions: [filler] });
    expect(call.isExact).toBe(true);
    expect(messagesOf(call)).toEqual([
      'Hello: input',
      'assistant: extension filler',
      'tool: extension filler',
      'tool: extension filler',
      'tool: runtime',
    ]);
  });
});

describe('the conversation', () => {
  test('V-01 messages that were replaced, removed or rolled back later are shown as they were sent', async () => {
    const editor = layer('editor', 'step', (ctx) => {
      const { nextMessages } = ctx.conversationState;
      const [first] = nextMessages;
      if (ctx.stepIndex === 1 && first !== undefined) {
        const message = createUserMessage('Replaced.', {}, { id: first.id });
        ctx.emitMessageEvent({ type: 'replace', targetId: first.id, message });
      }
      ctx.emitMessageEvent({ type: 'append', message: createUserMessage('again', {}, { id: `n${ctx.stepIndex}` }) });
      if (ctx.stepIndex === 3) ctx.emitMessageEvent({ type: 'truncate' });
    });
    const fail = { message: 'busy', retryable: true, times: 1 };
    const script = [
      { when: '^again', fail },
      { when: '^again', call: { tool: 'weather__get', args: {} } },
    ];
    const model = { provider: 'scripted', model: 'm', options: { script: [...script, { say: 'done' }] as never } };
    const policy = { retryBaseMs: 1, maxStepsPerTurn: 3 };
    await sayHello({ models: { 'Model/m': model }, policy, tools: [weather], extensions: [editor] });
    const { calls } = await promptsOf();
    expect(calls.map(({ isExact, step }) => [step, isExact])).toEqual([
      [0, true],
      [1, true],
      [2, true],
      [3, true],
    ]);
    expect(calls[0]?.error?.message).toBe('busy');
    expect(messagesOf(calls[0] as never)).toEqual(['Hello: input', 'again: extension editor']);
    expect(messagesOf(calls[1] as never).slice(0, 2)).toEqual([
      'Replaced.: extension editor',
      'again: extension editor',
    ]);
    expect(calls[3]?.request.messages.length).toBeLessThan(calls[2]?.request.messages.length ?? 0);
  });

  test('V-01 a long conversation is one reference, and is there again, also in a fork', async () => {
    const agent = await start({ systemPrompt: 'Be brief.' });
    for (let number = 0; number < 12; number++) await agent.say(`Question ${number}`);
    await agent.close();
    await journal.fork({ agentName: 'a', instanceKey: 'default' }, { as: 'fork' });
    const fork = await start({ systemPrompt: 'Be brief.', instanceKey: 'fork' });
    const { turnId } = await fork.say('And now?');
    await fork.close();
    for (const id of [turnId, 'turn-event-default-11']) {
      const [call] = (await promptsOf({ id })).calls;
      expect(call).toMatchObject({ isExact: true, problems: [] });
      expect(call?.request.messages.length).toBe(id === turnId ? 26 : 24);
      expect(messagesOf(call as never).slice(0, 3)).toEqual([
        'Be brief.: prompt of a',
        'Question 0: input',
        'assistant: model',
      ]);
    }
  });

  test('V-01 a long conversation is there as a dropped step saw it, and as the next step saw it', async () => {
    const editor = layer('editor', 'step', (ctx) => {
      const [first] = ctx.conversationState.nextMessages;
      if (ctx.stepIndex === 0 && first !== undefined && ctx.conversationState.nextMessages.length > 24) {
        const message = createUserMessage('Replaced.', {}, { id: first.id });
        ctx.emitMessageEvent({ type: 'replace', targetId: first.id, message });
      }
      if (ctx.stepIndex === 1) ctx.emitMessageEvent({ type: 'append', message: createUserMessage('Now?') });
    });
    const fail = { message: 'busy', retryable: true, times: 1 };
    const models = { 'Model/m': scripted({ when: '^Fail', fail }) };
    const agent = await start({ models, extensions: [editor], policy: { retryBaseMs: 1 } });
    for (let number = 0; number < 12; number++) await agent.say(`Question ${number}`);
    await agent.say('Fail once');
    await agent.close();
    const { calls } = await promptsOf();
    expect(calls.map(({ isExact, problems }) => ({ isExact, problems }))).toEqual([
      { isExact: true, problems: [] },
      { isExact: true, problems: [] },
    ]);
    expect(calls.map((call) => messagesOf(call)[0])).toEqual(['Replaced.: extension editor', 'Question 0: input']);
  });

  test('V-01 params that a layer took away are not in the request', async () => {
    await using server = startWireServer(openaiCase.dialect);
    server.answer({ reply: { usage: { input: 1, output: 1, cached: 0 }, text: ['Hi.'] } });
    const { provider, model } = openaiCase;
    const taker = layer('taker', 'model', (ctx) => {
      // A layer in plain JavaScript may take a param away like this.
      ctx.params = { ...ctx.params, temperature: undefined as never };
    });
    const spec = { provider, model, apiKey: 'k', endpoint: `${server.url}/v1`, params: { temperature: 1, topP: 0.5 } };
    const call = await onlyCallOf({ models: { 'Model/m': spec }, extensions: [taker] });
    expect(server.requests[0]?.body).not.toHaveProperty('temperature');
    expect(call).toMatchObject({ isExact: true, body: server.requests[0]?.body as never });
    expect(call.request.params.map(({ name, value, author }) => [name, value, shortly(author)])).toEqual([
      ['topP', 0.5, 'Model/m'],
      ['temperature', undefined, 'unknown'],
    ]);
  });

  test('V-01 an unfinished turn shows the requests so far, and a resumed turn those of all runs', async () => {
    const reached = Promise.withResolvers<void>();
    const hang = { ...weather, handlers: { get: () => (reached.resolve(), new Promise<never>(() => undefined)) } };
    const note = layer('note', 'step', (ctx) => {
      ctx.emitMessageEvent({
        type: 'append',
        message: createUserMessage('look there', {}, { id: `n${ctx.stepIndex}` }),
      });
    });
    const models = { 'Model/m': scripted({ afterTool: 'weather__get', say: 'never' }, look) };
    const plan = { models, extensions: [note], policy: { maxStepsPerTurn: 2 } };
    const first = await start({ ...plan, tools: [hang] });
    const never = first.say('look', 'event-1');
    await reached.promise;
    await first.flush();
    const running = await promptsOf();
    expect(running.turn.finishReason).toBeUndefined();
    expect(running.calls.map(({ isExact }) => isExact)).toEqual([true]);
    expect(messagesOf(running.calls[0] as never)).toEqual(['look: input', 'look there: extension note']);
    // The process of the first run ends.
    await journal.close();
    never.catch(() => undefined);

    journal = await durableStore(place());
    const second = await start({ ...plan, tools: [weather] });
    await second.say('look', 'event-1');
    await second.close();
    const { calls, turn } = await promptsOf();
    expect(turn.resumes).toBe(1);
    expect(calls.map(({ isExact, run, step, problems }) => ({ isExact, run, step, problems }))).toEqual([
      { isExact: true, run: 0, step: 0, problems: [] },
      { isExact: true, run: 1, step: 1, problems: [] },
    ]);
    expect(calls[1]?.request.messages.length).toBe(5);
  });
});

describe('what is not exact says so', () => {
  test('V-01 a secret that a layer put into params stays masked', async () => {
    const leaky = layer('leaky', 'model', (ctx) => {
      ctx.params = { ...ctx.params, stopSequences: ['canary-12345'] };
      ctx.messages.push({ role: 'user', content: 'The key is canary-12345.' });
    });
    await sayHello({ secrets: ['canary-12345'], extensions: [leaky] });
    const prompts = await promptsOf();
    expect(JSON.stringify(prompts)).not.toContain('canary');
    expect(prompts.calls).toMatchObject([{ isExact: false, problems: [{ kind: 'masked' }] }]);
    expect(messagesOf(prompts.calls[0] as never)).toEqual(['Hello: input', 'The key is ***.: layer leaky/model']);
  });

  test('V-01 a message that is gone is missing, with the error of reading, and nothing is shown as exact', async () => {
    const agent = await start({ systemPrompt: 'Be brief.' });
    for (let number = 0; number < 12; number++) await agent.say(`Question ${number}`);
    await agent.close();
    const gone: HistorySource = { history: async () => ({ start: emptyStart, turns: noTurns() }) };
    const damaged: HistorySource = {
      history: () => Promise.reject(new GoondanError('E_STORE_CORRUPT', 'A line is damaged.')),
    };
    for (const [id, history, why] of [
      ['turn-event-default-0', gone, /^message "[^"]+" is not in the conversation any more$/],
      ['turn-event-default-11', gone, /^23 messages from "[^"]+" to "[^"]+" are not in the conversation any more$/],
      ['turn-event-default-0', damaged, / any more \(A line is damaged\.\)$/],
    ] as const) {
      const traces = { readRequests: () => readRequests(place(), history, id) };
      const [call] = (await readPrompts({ traces, blobs: { get: async () => undefined } })).calls;
      expect(call).toMatchObject({
        isExact: false,
        problems: [{ kind: 'missing', message: expect.stringMatching(why) }],
      });
      expect(call).not.toHaveProperty('body');
      expect(messagesOf(call as never)).toEqual(['Be brief.: prompt of a', '?: unknown']);
    }
  });

  test('a turn that is committed while its conversation is read is exact', async () => {
    await sayHello({});
    let reads = 0;
    const history: HistorySource = {
      history: async (instance) => {
        reads += 1;
        return reads === 1 ? { start: emptyStart, turns: noTurns() } : journal.history(instance);
      },
      openTurn: async () => undefined,
    };
    const traces = { readRequests: () => readRequests(place(), history) };
    const { calls } = await readPrompts({ traces, blobs: { get: async () => undefined } });
    expect(calls).toMatchObject([{ isExact: true, problems: [] }]);
  });

  test('V-01 a part over the limit is missing', async () => {
    const large = layer('large', 'model', (ctx) => {
      ctx.messages.push({ role: 'user', content: 'x'.repeat(1_100_000) });
    });
    const call = await onlyCallOf({ extensions: [large] });
    expect(call).toMatchObject({ isExact: false, problems: [{ kind: 'missing' }] });
    expect(call).not.toHaveProperty('body');
    expect(messagesOf(call)).toEqual(['Hello: input', '?: layer large/model']);
  });

  test('V-01 a damaged trace is not exact', async () => {
    await sayHello({ systemPrompt: 'Be brief.' });
    change(/"content":"Be brief\."/, '"content":"Be short."');
    expect((await promptsOf()).calls).toMatchObject([{ isExact: false, problems: [{ kind: 'damaged' }, {}] }]);
  });

  test('V-01 of two tools with one name only the last is in the request; a damaged tool is not exact', async () => {
    const twice = layer('twice', 'model', (ctx) => {
      ctx.tools = [
        { name: 'same', description: 'One.' },
        { name: 'same', description: 'Two.' },
      ];
    });
    await sayHello({ extensions: [twice] });
    expect((await promptsOf()).calls).toMatchObject([{ isExact: true, request: { tools: [{ name: 'same' }] } }]);
    change(/"description":"Two\."/, '"description":"New."');
    expect((await promptsOf()).calls).toMatchObject([{ isExact: false, problems: [{ kind: 'damaged' }] }]);
  });

  test('a record of a request with other fields than expected counts as lost', async () => {
    await sayHello({ systemPrompt: 'Be brief.' });
    change(/"from":"prompt"/, '"from":"layer"');
    expect(await promptsOf()).toMatchObject({ calls: [], unsent: [{ why: 'unknown' }] });
    change(/"from":"layer"/, '"from":"other"');
    expect(await promptsOf()).toMatchObject({ calls: [], unsent: [{ why: 'unknown' }] });
    change(/"from":"other"/, '"from":"prompt"');
    expect((await promptsOf()).calls.map(messagesOf)).toEqual([['Be brief.: prompt of a', 'Hello: input']]);
    change(/"tools":\{\}/, '"tools":7');
    expect(await promptsOf()).toMatchObject({ calls: [], unsent: [{ why: 'unknown' }] });
  });

  test('V-01 another version of the package is not exact', async () => {
    await using server = startWireServer(openaiCase.dialect);
    server.answer({ reply: { usage: { input: 1, output: 1, cached: 0 }, text: ['Hi.'] } });
    const { provider, model } = openaiCase;
    const spec = { provider, model, apiKey: 'k', endpoint: `${server.url}/v1` };
    await sayHello({ models: { 'Model/m': spec } });
    expect((await promptsOf()).calls).toMatchObject([{ isExact: true, body: server.requests[0]?.body as never }]);
    change(/"bodyDigest":"[0-9a-f]{4}/, '"bodyDigest":"0000');
    expect((await promptsOf()).calls).toMatchObject([{ isExact: false, problems: [{ kind: 'other' }] }]);
    change(/@ai-sdk\/openai@[0-9.]*/, '@ai-sdk/openai@0.0.1');
    expect((await promptsOf()).calls).toMatchObject([{ isExact: false, problems: [{ kind: 'package' }] }]);
  });
});

describe('what is not recorded is an error', () => {
  test('a step that the turn does not have', async () => {
    await sayHello({});
    expect((await promptsOf({ step: 0 })).calls).toHaveLength(1);
    expect(await rejectionOf(promptsOf({ step: 1 }))).toMatchObject({
      code: 'E_PROMPT_STEP',
      message: 'Turn event-default-0 has no step 1. It has only step 0.',
      suggestion:
        'Write `--prompt 0` for its last step, or `--prompt` for all of them. `gdn trace event-default-0` shows what each step did.',
    });
  });

  test('a call that failed before its request was sent names the error', async () => {
    const guard = extension('guard', (api) => {
      api.pipeline.register('model', () => {
        throw new Error('not on Sundays');
      });
    });
    await sayHello({ extensions: [guard] });
    const { calls, unsent } = await promptsOf();
    expect(calls).toEqual([]);
    expect(unsent).toEqual([
      {
        effect: '0/model',
        step: 0,
        modelRef: 'Model/m',
        why: 'failed',
        error: expect.stringContaining('not on Sundays'),
      },
    ]);
  });

  test('a model of a program that does not report its requests', async () => {
    const reply = { content: [{ type: 'text' as const, text: 'Hi.' }], finishReason: 'stop' as const };
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    const model: Model = { generate: async () => ({ ...reply, usage }) };
    await sayHello({ models: { 'Model/own': model } });
    expect(await rejectionOf(promptsOf())).toMatchObject({
      code: 'E_PROMPT_UNRECORDED',
      message: expect.stringContaining('Model/own'),
    });
  });
});

test('V-01 the trace of a turn of 50 steps grows with its new messages, not with the conversation', async () => {
  const history = 'x'.repeat(20_000);
  const again = { afterTool: 'weather__get', call: { tool: 'weather__get', args: {} } };
  const policy = { maxStepsPerTurn: 50 };
  const bytesOf = async (steps: number) => {
    const instanceKey = `steps-${steps}`;
    const models = { 'Model/m': scripted(look, again) };
    const exports = [{ name: 'get', description: history }];
    const plan = { instanceKey, models, tools: [{ ...weather, exports }], systemPrompt: history };
    const agent = await start({ ...plan, policy: { ...policy, maxStepsPerTurn: steps } });
    const before = traceBytes();
    await agent.say(`look ${history}`);
    await agent.close();
    return traceBytes() - before;
  };
  const [ten, fifty] = [await bytesOf(10), await bytesOf(50)];
  const { calls } = await promptsOf({ id: 'turn-event-steps-50-0' });
  expect(calls.map(({ isExact }) => isExact)).toEqual(Array<boolean>(50).fill(true));
  // Each step adds a reply and a result; the prompt, the input and the tool would add 60 000 bytes to each.
  expect((fifty - ten) / 40).toBeLessThan(4_000);
});

async function* noTurns(): AsyncGenerator<never> {
  // There is nothing.
}

const tracesFolder = () => join(stateRoot, 'workspaces', 'w', 'traces');

function traceFiles(): string[] {
  if (!existsSync(tracesFolder())) return [];
  return readdirSync(tracesFolder()).map((name) => join(tracesFolder(), name));
}

function traceBytes(): number {
  return traceFiles().reduce((sum, path) => sum + statSync(path).size, 0);
}

/** Changes the text of the traces. */
function change(from: RegExp, to: string): void {
  for (const path of traceFiles()) {
    const text = readFileSync(path, 'utf8');
    if (from.test(text)) writeFileSync(path, text.replaceAll(new RegExp(from.source, 'g'), to));
  }
}
