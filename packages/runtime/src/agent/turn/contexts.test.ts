import { describe, expect, test } from 'bun:test';
import { inspect } from 'node:util';
import type { AgentEvent, MiddlewareKind, StepMiddlewareContext, ToolCallResult, Turn } from '@goondan/types';
import { extension, scriptedAgent } from '../../testing/index.ts';
import { oneLayer } from '../../testing/one-layer.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';

const kinds: readonly MiddlewareKind[] = ['turn', 'step', 'toolCall', 'model'];

/** The readonly fields of each kind of context, and the fields that a layer may change. */
const everywhere = ['agentName', 'instanceKey', 'turnId', 'traceId', 'movedFrom', 'workdir', 'bundleFolder', 'signal'];
const powers = ['conversationState', 'runtime', 'agents', 'model', 'tools', 'resumed', 'emitMessageEvent'];
const readonlyFields: Record<MiddlewareKind, readonly string[]> = {
  turn: [...everywhere, ...powers, 'inputEvent'],
  step: [...everywhere, ...powers, 'turn', 'stepIndex'],
  toolCall: [...everywhere, 'stepIndex', 'toolName', 'toolCallId'],
  model: [...everywhere, 'stepIndex', 'extension', 'budgets'],
};
const mutableFields: Record<MiddlewareKind, readonly string[]> = {
  turn: ['metadata'],
  step: ['metadata', 'toolCatalog'],
  toolCall: ['metadata', 'args'],
  model: ['metadata', 'messages', 'tools', 'params', 'modelRef'],
};

const weather: ToolDeclaration = {
  name: 'weather',
  exports: [{ name: 'get', description: 'The weather of a city.' }],
  handlers: { get: (_ctx, { city }) => ({ city: city ?? null }) },
};

/** Runs one turn of two steps with one tool call. `look` gets every context before its `next()`. */
async function lookAt(look: (kind: MiddlewareKind, ctx: object) => void, event: Partial<AgentEvent> = {}) {
  const agent = await scriptedAgent({
    agentName: 'coder',
    instanceKey: 'room-1',
    workdir: '/somewhere',
    bundleFolder: '/bundle',
    tools: [weather],
    script: [
      { when: 'weather', call: { tool: 'weather__get', args: { city: 'Seoul' } } },
      { afterTool: 'weather__get', say: 'Sunny.' },
    ],
    extensions: [
      extension('looker', ({ pipeline }) => {
        pipeline.register('turn', (ctx) => (look('turn', ctx), ctx.next()));
        pipeline.register('step', (ctx) => (look('step', ctx), ctx.next()));
        pipeline.register('toolCall', (ctx) => (look('toolCall', ctx), ctx.next()));
        pipeline.register('model', (ctx) => (look('model', ctx), ctx.next()));
      }),
    ],
  });
  const turn = await agent.say('weather?', { event });
  expect(turn.text).toBe('Sunny.');
  return { agent, turn };
}

async function firstContextOf(kind: MiddlewareKind, event: Partial<AgentEvent> = {}): Promise<object> {
  const seen: object[] = [];
  await lookAt((each, ctx) => each === kind && seen.push(ctx), event);
  const [first] = seen;
  if (first === undefined) throw new Error(`no ${kind} context was seen`);
  return first;
}

/** Assigns a field in strict mode, as a layer would. */
function assign(target: object, field: string, value: unknown): void {
  // The types say readonly, but plain JavaScript can still assign.
  (target as Record<string, unknown>)[field] = value;
}

/**
 * Returns the error of an assignment. The error must not be thrown in the layer, because the error of a toolCall layer
 * becomes a result, and the turn continues.
 */
function assigning(target: object, field: string, value: unknown): unknown {
  try {
    return assign(target, field, value);
  } catch (error) {
    return error;
  }
}

describe('a context shows the members of the contract and nothing else', () => {
  const more: Partial<Record<MiddlewareKind, readonly string[]>> = {
    toolCall: ['effects', 'approval', 'tools', 'callers'],
    model: ['modelReason'],
  };

  test.each(kinds)('kind %s: in a copy, in JSON and in the console', async (kind) => {
    const looks: { copy: object; json: unknown; shown: string; printed: string }[] = [];
    await lookAt((each, ctx) => {
      if (each !== kind) return;
      const copy = { ...ctx };
      looks.push({ copy, json: JSON.parse(JSON.stringify(ctx)), shown: inspect(ctx), printed: Bun.inspect(ctx) });
    });
    const [look] = looks;
    const { copy = {}, json, shown = '', printed = '' } = look ?? {};
    const named = ['next', ...readonlyFields[kind], ...mutableFields[kind], ...(more[kind] ?? [])];
    expect(Object.keys(copy).toSorted()).toEqual(named.toSorted());
    expect(Object.getOwnPropertySymbols(copy)).toEqual([]);
    expect(json).toMatchObject({ agentName: 'coder', instanceKey: 'room-1', workdir: '/somewhere', metadata: {} });
    expect(Object.keys(json ?? {}).every((field) => named.includes(field))).toBe(true);
    for (const text of [shown, printed]) {
      expect(text).toContain('room-1');
      expect(text).not.toContain('Symbol(');
      expect(text.length).toBeLessThan(5_000);
    }
  });

  test('a copy has the values of the context, and its next() runs the chain', async () => {
    const agent = await scriptedAgent({
      extensions: [
        oneLayer('copying', 'step', (ctx) => {
          const copy = { ...ctx };
          expect([copy.turn, copy.conversationState, copy.metadata]).toEqual([
            ctx.turn,
            ctx.conversationState,
            ctx.metadata,
          ]);
          return copy.next();
        }),
      ],
    });
    expect((await agent.say('hello')).text).toBe('You said: hello');
  });

  test('a context cannot be frozen, and stays as it is', async () => {
    const ctx = await firstContextOf('turn');
    expect(() => Object.freeze(ctx)).toThrow(TypeError);
    expect({ ...ctx }).toMatchObject({ agentName: 'coder' });
  });

  test('a field that a layer adds is shown, too', async () => {
    const ctx = await firstContextOf('turn');
    expect({ ...Object.assign(ctx, { mine: 1 }) }).toMatchObject({ mine: 1, agentName: 'coder' });
  });
});

describe('the contexts', () => {
  test.each(kinds)(
    'C-01 a %s context carries agentName, instanceKey, turnId, traceId and its folders',
    async (kind) => {
      expect(await firstContextOf(kind, { id: 'e1', traceId: 'trace-7' })).toMatchObject({
        agentName: 'coder',
        instanceKey: 'room-1',
        turnId: 'turn-e1',
        traceId: 'trace-7',
        workdir: '/somewhere',
        bundleFolder: '/bundle',
      });
    },
  );

  test('C-02 a turn context has inputEvent, conversationState, agents, emitMessageEvent, metadata and next', async () => {
    const createdAt = new Date('2026-01-02T03:04:05.000Z');
    const ctx = await firstContextOf('turn', { id: 'e1', createdAt, metadata: { from: 'here' } });
    // This uses toEqual, because toMatchObject treats all dates as equal.
    expect(Reflect.get(ctx, 'inputEvent')).toEqual({
      id: 'e1',
      type: 'user.message',
      input: 'weather?',
      instanceKey: 'room-1',
      source: { kind: 'cli', name: 'test' },
      metadata: { from: 'here' },
      traceId: 'trace-1',
      createdAt,
    });
    expect(ctx).toMatchObject({
      conversationState: { baseMessages: [], toLlmMessages: expect.any(Function) },
      agents: { request: expect.any(Function), send: expect.any(Function) },
      emitMessageEvent: expect.any(Function),
      metadata: {},
      next: expect.any(Function),
    });
  });

  test('C-03 a step context has turn, a 0-based stepIndex, conversationState, agents, emitMessageEvent, toolCatalog, metadata and next', async () => {
    const steps: Pick<StepMiddlewareContext, 'stepIndex'>[] = [];
    // The cast is safe: the kind was checked.
    await lookAt((kind, ctx) => kind === 'step' && steps.push(ctx as StepMiddlewareContext));
    expect(steps.map(({ stepIndex }) => stepIndex)).toEqual([0, 1]);
    expect(steps[0]).toMatchObject({
      turn: { id: 'turn-event-1' },
      conversationState: { toLlmMessages: expect.any(Function) },
      agents: { request: expect.any(Function), send: expect.any(Function) },
      emitMessageEvent: expect.any(Function),
      toolCatalog: [{ name: 'weather__get' }],
      metadata: {},
      next: expect.any(Function),
    });
  });

  test('C-04 a toolCall context has stepIndex, toolName, toolCallId, args, metadata and next, and no agents', async () => {
    const ctx = await firstContextOf('toolCall');
    expect(ctx).toMatchObject({
      stepIndex: 0,
      toolName: 'weather__get',
      toolCallId: 'call_1',
      args: { city: 'Seoul' },
      metadata: {},
      next: expect.any(Function),
    });
    expect('agents' in ctx).toBe(false);
  });

  test.each(kinds.flatMap((kind) => ['next', ...readonlyFields[kind]].map((field) => [kind, field] as const)))(
    'C-05 %s: assigning to ctx.%s throws a TypeError and changes nothing',
    async (kind, field) => {
      const outcomes: { error: unknown; before: unknown; after: unknown }[] = [];
      await lookAt((each, ctx) => {
        if (each !== kind) return;
        const before: unknown = Reflect.get(ctx, field);
        const error = assigning(ctx, field, 'changed');
        outcomes.push({ error, before, after: Reflect.get(ctx, field) });
      });
      expect(outcomes).not.toBeEmpty();
      for (const { error, before, after } of outcomes) {
        expect(error).toBeInstanceOf(TypeError);
        expect(typeof after).toBe(typeof before);
        // A primitive value stays the same. Objects and functions are created anew for each read, so they are not
        // compared.
        if (typeof before !== 'object' && typeof before !== 'function') expect(after).toBe(before);
      }
    },
  );

  test.each(kinds.flatMap((kind) => mutableFields[kind].map((field) => [kind, field] as const)))(
    '%s: ctx.%s may be reassigned, but only to a value of its type',
    async (kind, field) => {
      const outcomes: { took: boolean; error: unknown; kept: boolean }[] = [];
      await lookAt((each, ctx) => {
        if (each !== kind) return;
        const current: unknown = Reflect.get(ctx, field);
        const replacement = typeof current === 'string' ? current : structuredClone(current);
        assign(ctx, field, replacement);
        const took = Reflect.get(ctx, field) === replacement;
        const error = assigning(ctx, field, undefined);
        outcomes.push({ took, error, kept: Reflect.get(ctx, field) === replacement });
      });
      expect(outcomes).not.toBeEmpty();
      for (const outcome of outcomes) {
        expect(outcome).toEqual({ took: true, error: expect.any(TypeError), kept: true });
      }
    },
  );
});

describe('the input event', () => {
  const sent: Partial<AgentEvent> = {
    id: 'e9',
    auth: { user: 'mina', roles: ['reader'] },
    metadata: { thread: { id: 1 } },
    replyTo: { target: 'boss', correlationId: 'c1' },
    source: { kind: 'connector', name: 'telegram' },
  };

  test('C-10 reaches the turn with every field it was sent with', async () => {
    const ctx = await firstContextOf('turn', sent);
    expect(ctx).toMatchObject({
      inputEvent: { ...sent, type: 'user.message', instanceKey: 'room-1', traceId: 'trace-1' },
    });
    expect(ctx).toHaveProperty('inputEvent.createdAt', expect.any(Date));
  });

  /** Assigns to a field of the event, or of a value inside it, and checks that nothing changes. */
  async function expectUnchangeable(path: string, field: string): Promise<void> {
    const ctx = await firstContextOf('turn', sent);
    const owner = path.split('.').reduce<unknown>(
      // An empty path means the event itself.
      (value, part) => (part === '' ? value : Reflect.get(Object(value), part)),
      Reflect.get(ctx, 'inputEvent'),
    );
    const before: unknown = Reflect.get(Object(owner), field);
    expect(before).toBeDefined();
    expect(() => assign(Object(owner), field, 'changed')).toThrow(TypeError);
    expect(Reflect.get(Object(owner), field)).toBe(before);
  }

  test.each([
    ['', 'input'],
    ['', 'createdAt'],
    ['metadata.thread', 'id'],
    ['replyTo', 'target'],
    ['source', 'name'],
  ])('C-05 cannot be changed by a layer: inputEvent.%s %s', expectUnchangeable);

  test.each([
    ['', 'auth'],
    ['auth', 'user'],
    ['auth.roles', '0'],
  ])('A-09 C-05 has an auth that cannot be changed by a layer: inputEvent.%s %s', expectUnchangeable);

  test('is not changed when its sender changes the object later', async () => {
    const auth = { user: 'mina' };
    const createdAt = new Date('2026-01-02T03:04:05.000Z');
    const ctx = await firstContextOf('turn', { auth, createdAt });
    auth.user = 'root';
    createdAt.setFullYear(1999);
    const inputEvent = Reflect.get(ctx, 'inputEvent') as AgentEvent;
    expect([inputEvent.auth, inputEvent.createdAt]).toEqual([{ user: 'mina' }, new Date('2026-01-02T03:04:05.000Z')]);
  });
});

describe('the running turn', () => {
  async function turnsOf(look: (turn: Turn, results: readonly ToolCallResult[]) => void) {
    const agent = await scriptedAgent({
      agentName: 'coder',
      tools: [weather],
      script: [
        {
          when: 'weather',
          calls: [
            { tool: 'weather__get', args: { city: 'Seoul' } },
            { tool: 'weather__get', args: { city: 'Busan' } },
          ],
        },
        { afterTool: 'weather__get', say: 'Sunny.' },
      ],
      extensions: [
        oneLayer('looker', 'step', async (ctx) => {
          look(ctx.turn, ctx.turn.toolResults);
          const result = await ctx.next();
          look(ctx.turn, ctx.turn.toolResults);
          return result;
        }),
      ],
    });
    await agent.say('weather?');
  }

  test('C-11 has id, agentName, instanceKey, inputEvent and startedAt', async () => {
    const turns: Turn[] = [];
    await turnsOf((turn) => turns.push(turn));
    expect(turns[0]).toMatchObject({
      id: 'turn-event-1',
      agentName: 'coder',
      instanceKey: 'default',
      inputEvent: { id: 'event-1', input: 'weather?' },
      startedAt: expect.any(Date),
    });
    expect(new Set(turns).size).toBe(1);
  });

  test('C-11 toolResults grows in the order of the calls, and a list read earlier stays the same', async () => {
    const lists: (readonly ToolCallResult[])[] = [];
    await turnsOf((_turn, results) => lists.push(results));
    const cities = lists.map((results) => results.map(({ output }) => Reflect.get(Object(output), 'city')));
    expect(cities).toEqual([[], ['Seoul', 'Busan'], ['Seoul', 'Busan'], ['Seoul', 'Busan']]);
  });

  test.each(['id', 'agentName', 'instanceKey', 'inputEvent', 'startedAt', 'toolResults'])(
    'C-11 C-05 assigning to turn.%s throws a TypeError',
    async (field) => {
      const errors: unknown[] = [];
      await turnsOf((turn) => errors.push(assigning(turn, field, [])));
      expect(errors).toHaveLength(4);
      for (const error of errors) expect(error).toBeInstanceOf(TypeError);
    },
  );

  test('C-11 toolResults itself is frozen', async () => {
    const errors: unknown[] = [];
    await turnsOf((_turn, results) => errors.push(assigning(results, `${results.length}`, {})));
    expect(errors).toHaveLength(4);
    for (const error of errors) expect(error).toBeInstanceOf(TypeError);
  });
});
