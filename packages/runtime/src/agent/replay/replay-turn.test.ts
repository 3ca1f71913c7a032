import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createSystemMessage, type ExtensionApi, type ExtensionRegister, type MessageOptions } from '@goondan/types';
import { extension, fakeApprover, manualClock } from '../../testing/index.ts';
import { layerOf } from '../../testing/one-layer.ts';
import { recordInMemory } from '../../testing/record-in-memory.ts';
import type { ReplayOutcome } from '../../trace/replay.ts';
import type { AgentPlan } from '../start/agent-plan.ts';
import { noEngine } from '../seams/engine.ts';
import { watchDraws } from '../draws/watch-draws.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';
import { replayTurn } from './replay-turn.ts';

let unwatch: () => void;
beforeAll(() => {
  unwatch = watchDraws();
});
afterAll(() => unwatch());

const script = [
  { when: 'weather', call: { tool: 'weather__get', args: { city: 'Bonn' } } },
  { afterTool: 'weather__get', say: 'It is {{result.degrees}} degrees.' },
  { when: 'busy', fail: { message: 'overloaded', retryable: true, times: 1 } },
  { when: 'broken', fail: { message: 'no more', times: 9 } },
  { say: 'You said: {{input}}' },
];

let calls = 0;
const weather: ToolDeclaration = {
  name: 'weather',
  exports: [{ name: 'get', description: 'The weather.', parameters: { type: 'object' }, effects: 'none' }],
  handlers: {
    get: () => {
      calls += 1;
      return { degrees: 20 };
    },
  },
};

function planOf(extensions: Readonly<Record<string, ExtensionRegister>>, more: Partial<AgentPlan> = {}): AgentPlan {
  return {
    agentName: 'helper',
    systemPrompt: 'Be brief.',
    models: { 'Model/m': { provider: 'scripted', model: 'm', options: { script } } },
    tools: [weather],
    extensions: Object.entries(extensions).map(([name, register]) => extension(name, register)),
    ...more,
  };
}

/** Records a turn with the extensions in `then`, and replays it with the extensions in `now`. */
async function replay(
  input: string,
  then: Readonly<Record<string, ExtensionRegister>>,
  now: Readonly<Record<string, ExtensionRegister>> = then,
  more: { readonly before?: Partial<AgentPlan>; readonly now?: Partial<AgentPlan> } = {},
): Promise<ReplayOutcome> {
  const { start } = await recordInMemory(planOf(then, more.before), [input]);
  return replayTurn(planOf(now, more.now), start);
}

/** Registers layers that draw values of every kind and emit the values in messages. */
function drawing(api: ExtensionApi): void {
  const loadedAt = Date.now();
  api.pipeline.register('step', async (ctx) => {
    const bytes = crypto.getRandomValues(new Uint8Array(4)).toHex();
    await Promise.resolve();
    const said = [new Date().toISOString(), Date.now() - loadedAt, Math.random(), crypto.randomUUID(), bytes];
    ctx.emitMessageEvent({
      type: 'append',
      message: createSystemMessage(JSON.stringify([...said, performance.now()])),
    });
    return ctx.next();
  });
}

/** Registers layers that change everything a layer can change. */
function changing(api: ExtensionApi): void {
  api.pipeline.register('turn', async (ctx) => {
    ctx.emitMessageEvent({ type: 'append', message: createSystemMessage('and politely') });
    const result = await ctx.next();
    await api.state.set({ turns: 1 });
    return { ...result, finishReason: 'text_response' };
  });
  api.pipeline.register('step', async (ctx) => {
    ctx.toolCatalog = ctx.toolCatalog.map((tool) => ({ ...tool, description: `${tool.description} Really.` }));
    return ctx.next();
  });
  api.pipeline.register('toolCall', async (ctx) => {
    ctx.args = { ...ctx.args, unit: 'C' };
    const result = await ctx.next();
    return { ...result, output: { degrees: 21 } };
  });
  api.pipeline.register('model', async (ctx) => {
    ctx.messages = [...ctx.messages, { role: 'system', content: 'in short' }];
    return ctx.next();
  });
}

/** Emits a message with the agent, the model, the tools, the other agents and the connections. */
const describing: ExtensionRegister = layerOf('step', (ctx) => {
  const text = JSON.stringify(ctx.runtime);
  ctx.emitMessageEvent({ type: 'append', message: createSystemMessage(text, {}, { id: 'described' }) });
  return ctx.next();
});

const idle: ExtensionRegister = ({ pipeline }) => {
  pipeline.register('turn', (ctx) => ctx.next());
  pipeline.register('step', (ctx) => ctx.next());
  pipeline.register('toolCall', (ctx) => ctx.next());
  pipeline.register('model', (ctx) => ctx.next());
};

const saying = (text: string, metadata = {}, options: MessageOptions = {}): ExtensionRegister =>
  layerOf('step', (ctx) => {
    const message = createSystemMessage(text, metadata, { id: 'said', ...options });
    ctx.emitMessageEvent({ type: 'append', message });
    return ctx.next();
  });

describe('a replayed turn without changes', () => {
  test('gets the same ctx.runtime', async () => {
    const outside = {
      engine: { ...noEngine, catalog: () => [{ name: 'helper' }, { name: 'cook' }] },
      connections: () => [{ name: 'front-door', connector: 'web' }],
    };
    const plan = planOf({ describing });
    const { start } = await recordInMemory(plan, ['weather'], outside);
    expect((await replayTurn(plan, start, outside)).first).toBeUndefined();
    expect((await replayTurn(plan, start)).first).toMatchObject({ extension: 'describing' });
  });

  test('behaves as recorded, and reaches nothing outside', async () => {
    const plan = planOf({ draw: drawing, change: changing });
    const { start, result } = await recordInMemory(plan, ['hello', 'weather']);
    expect(result).toMatchObject({ finishReason: 'text_response' });
    calls = 0;
    expect(await replayTurn(plan, start)).toEqual({
      others: 0,
      layers: 8,
      steps: 2,
      served: { model: 2, tool: 1, agent: 0, approval: 0 },
    });
    expect(calls).toBe(0);
  });

  test.each([
    ['with a step that was tried again, without waiting for it', 'busy', { maxStepRetries: 1, retryBaseMs: 20 }],
    ['with a failure', 'broken', { maxStepRetries: 0 }],
    ['with a limit', 'weather', { maxStepsPerTurn: 1 }],
  ])('%s', async (_, input, policy) => {
    const before = { policy };
    // If the replay waited before the retry, it would not end in time.
    const now = { policy: { ...policy, retryBaseMs: 3_600_000, retryMaxMs: 3_600_000 } };
    expect((await replay(input, { change: changing }, { change: changing }, { before, now })).first).toBeUndefined();
  });

  test('gives layers the recorded times of messages and of the turn', async () => {
    const reading: ExtensionRegister = layerOf('step', async (ctx) => {
      const times = ctx.conversationState.nextMessages.map(({ createdAt }) => createdAt.toISOString());
      const content = [...times, ctx.turn.startedAt.toISOString(), ctx.turn.inputEvent.createdAt.toISOString()].join();
      ctx.emitMessageEvent({ type: 'append', message: createSystemMessage(content) });
      return ctx.next();
    });
    expect((await replay('weather', { reading })).first).toBeUndefined();
  });

  test('gives each layer its own draws when parallel calls end in another order', async () => {
    const ended: unknown[] = [];
    const sleep: ToolDeclaration = {
      name: 'sleep',
      exports: [{ name: 'ms', description: 'Waits.', parameters: { type: 'object' }, parallel: true }],
      handlers: {
        ms: async (_ctx, { ms }) => {
          await Bun.sleep(Number(ms));
          ended.push(ms);
          return 'awake';
        },
      },
    };
    const slept = [30, 1].map((ms) => ({ tool: 'sleep__ms', args: { ms } }));
    const options = { script: [{ when: 'sleep', calls: slept }, { say: 'done' }] };
    const more = { tools: [sleep], models: { 'Model/m': { provider: 'scripted', model: 'm', options } } };
    const stamping: ExtensionRegister = layerOf('toolCall', async (ctx) => {
      const before = crypto.randomUUID();
      const result = await ctx.next();
      return { ...result, output: [before, crypto.randomUUID()] };
    });
    const { first, served } = await replay('sleep', { stamping }, { stamping }, { before: more, now: more });
    expect(ended).toEqual([1, 30]);
    expect(served).toMatchObject({ tool: 2 });
    expect(first).toBeUndefined();
  });

  test('has no divergence when layers that do nothing are added or removed, also around an error', async () => {
    expect((await replay('weather', { draw: drawing, idle }, { draw: drawing })).first).toBeUndefined();
    expect((await replay('weather', { draw: drawing }, { idle, draw: drawing })).first).toBeUndefined();
    const policy = { policy: { maxStepRetries: 0 } };
    expect((await replay('broken', { idle }, {}, { before: policy, now: policy })).first).toBeUndefined();
    expect((await replay('broken', {}, { idle }, { before: policy, now: policy })).first).toBeUndefined();
  });
});

describe('the first divergence', () => {
  test('is the first in time: an outer layer’s part after next() comes after everything inside', async () => {
    const around = (text: string): ExtensionRegister =>
      layerOf('step', async (ctx) => {
        const result = await ctx.next();
        ctx.emitMessageEvent({ type: 'append', message: createSystemMessage(text) });
        return result;
      });
    const { first, others } = await replay(
      'hello',
      { outer: around('one'), inner: around('two') },
      { outer: around('other one'), inner: around('other two') },
    );
    expect(first).toMatchObject({
      place: ['step 0'],
      extension: 'inner',
      layer: 'step',
      what: 'message',
      changes: [{ path: expect.stringMatching(/^append system msg-/), before: 'two', after: 'other two' }],
    });
    expect(others).toBe(1);
  });

  test('is a layer that is gone and had done something', async () => {
    const { first, stoppedAt } = await replay('hello', { idle, say: saying('be kind') }, { idle });
    expect(first).toEqual({
      place: ['step 0'],
      extension: 'say',
      layer: 'step',
      what: 'gone',
      message: 'did not run, but changed something in the recording',
      changes: [{ path: 'append system said', before: 'be kind' }],
    });
    expect(stoppedAt).toEqual(['step 0', 'model Model/m']);
  });

  test('is a new layer that does something', async () => {
    const { first } = await replay('hello', { idle }, { idle, say: saying('be kind') });
    expect(first).toMatchObject({ extension: 'say', what: 'message', changes: [{ after: 'be kind' }] });
    const late = layerOf('step', (ctx) => ctx.next().then(() => Promise.reject(new Error('late'))));
    const policy = { policy: { maxStepRetries: 0 } };
    const failed = await replay('hello', { idle }, { idle, late }, { before: policy, now: policy });
    expect(failed.first).toMatchObject({ extension: 'late', what: 'outcome', changes: [{ after: 'failed: late' }] });
  });

  test('is found where the value is too long to be shown', async () => {
    const long = 'x'.repeat(5_000);
    const cut = await replay('hello', { say: saying(`${long}1`) }, { say: saying(`${long}2`) });
    expect(cut.first).toMatchObject({ extension: 'say', changes: [] });
  });

  test('is found in a message where only its lifetime differs, in either direction', async () => {
    const say = saying('hi', {}, { lifetime: 'turn' });
    const expected = { extension: 'say', what: 'message' };
    expect((await replay('hello', { say: saying('hi') }, { say })).first).toMatchObject(expected);
    expect((await replay('hello', { say }, { say: saying('hi') })).first).toMatchObject(expected);
    expect((await replay('hello', { say }, { say })).first).toBeUndefined();
  });

  test.each([
    ['the prompt', { systemPrompt: 'Be long.' }, 'messages.shown.0 system'],
    ['the parameters', { params: { temperature: 1 } }, 'params.temperature'],
    ['the tools', { tools: [] }, 'tools.weather__get'],
  ])('has no extension when %s changed', async (_, now, path) => {
    const { first } = await replay('hello', { idle }, { idle }, { now });
    expect(first).toMatchObject({ place: ['step 0', 'model Model/m'], what: 'asked' });
    expect(first).not.toHaveProperty('extension');
    expect(first?.changes.map((change) => change.path)).toContain(path);
  });

  test('is an extension whose tool changed or is gone', async () => {
    const offering =
      (description: string): ExtensionRegister =>
      ({ tools }) =>
        tools.register({ name: 'own__tool', description }, () => 'done');
    const { first } = await replay('hello', { idle, offer: offering('one') }, { idle, offer: offering('two') });
    expect(first).toMatchObject({ extension: 'offer', what: 'asked', changes: [{ path: 'tools.own__tool' }] });
    expect(first).not.toHaveProperty('layer');
    expect((await replay('hello', { offer: offering('one') }, {})).first).toMatchObject({ extension: 'offer' });
  });

  test('is a layer that no longer asks, present or not, even if nothing else would be different', async () => {
    const asking = (isAsked: boolean): ExtensionRegister =>
      layerOf('toolCall', async (ctx) => {
        if (isAsked) await ctx.approval.ask({ reason: 'May it?' });
        return ctx.next();
      });
    const ports = { approver: fakeApprover(() => ({ decision: 'approved' })) };
    const { start } = await recordInMemory(planOf({ ask: asking(true) }), ['weather'], ports);
    expect((await replayTurn(planOf({ ask: asking(true) }), start)).first).toBeUndefined();
    const doer = { place: ['step 0', 'toolCall weather__get'], extension: 'ask', layer: 'toolCall' };
    const changes = [{ path: 'a person', before: expect.stringContaining('May it?') }];
    const silent = await replayTurn(planOf({ ask: asking(false) }), start);
    expect(silent.first).toMatchObject({
      ...doer,
      what: 'not_asked',
      message: 'sent no request to a person, but did in the recording',
      changes,
    });
    expect((await replayTurn(planOf({}), start)).first).toMatchObject({ ...doer, what: 'gone', changes });
  });

  test('is the state of an extension, when nothing else differs', async () => {
    const keeping =
      (value: number): ExtensionRegister =>
      ({ pipeline, state }) =>
        pipeline.register('turn', async (ctx) => {
          await state.set({ value });
          return ctx.next();
        });
    expect((await replay('hello', { keep: keeping(1) }, { keep: keeping(2) })).first).toEqual({
      place: [],
      extension: 'keep',
      what: 'state',
      message: 'had a different state after the turn than in the recording',
      changes: [{ path: 'value', before: '1', after: '2' }],
    });
  });

  test('is a layer that returns its own result, fails, or calls next(), unlike in the recording', async () => {
    const failing: ExtensionRegister = layerOf('step', () => Promise.reject(new Error('no')), { name: 'step' });
    const first = async (...registers: ExtensionRegister[]) => {
      const [then = idle, now = idle] = registers;
      return (await replay('hello', { other: then }, { other: now })).first;
    };
    expect(await first(idle, failing)).toMatchObject({ extension: 'other', changes: [{ after: 'failed: no' }] });
    expect(await first(failing, saying('x'))).toMatchObject({ extension: 'other', what: 'outcome' });
  });

  test('leaves out extensions that are known to diverge', async () => {
    const { start } = await recordInMemory(planOf({ known: saying('one') }), ['hello']);
    const outcome = await replayTurn(planOf({ known: saying('two') }), { ...start, ignored: ['known'] });
    expect(outcome).toMatchObject({ others: 1, stoppedAt: ['step 0', 'model Model/m'] });
    expect(outcome.first).toBeUndefined();
  });
});

test('a layer that hangs is named, and the replay does not wait for it', async () => {
  const waiting = (settle: () => Promise<void>): ExtensionRegister =>
    layerOf('step', async (ctx) => {
      await settle();
      return ctx.next();
    });
  const { start } = await recordInMemory(planOf({ wait: waiting(() => Promise.resolve()) }), ['hello']);
  const clock = manualClock();
  const reached = Promise.withResolvers<void>();
  const hanging = waiting(() => {
    reached.resolve();
    return new Promise<void>(() => undefined);
  });
  const replayed = replayTurn(planOf({ wait: hanging }), start, { clock });
  await reached.promise;
  await clock.advance(60_000);
  expect((await replayed).first).toMatchObject({ place: ['step 0'], extension: 'wait', what: 'hung' });
});

test('a replay goes no further than its recording: an effect without a recorded outcome never settles', async () => {
  let went = 0;
  const watching: ExtensionRegister = layerOf('model', async (ctx) => {
    try {
      return await ctx.next();
    } finally {
      went += 1;
    }
  });
  const { start } = await recordInMemory(planOf({ watching }), ['hello']);
  expect(went).toBe(1);
  const outcome = await replayTurn(planOf({ watching, say: saying('more') }), start);
  expect(outcome.served.model).toBe(0);
  expect(went).toBe(1);
});
