// The twelve points of 003 §3.2 in the order of 003 §7 and §11.2, on the layers of the onion.
import { describe, expect, test } from 'bun:test';
import {
  type ExtensionRegister,
  type HookedContext,
  type HookPoint,
  hookPoints,
  TAKE_HOOKS,
  type TakenHooks,
  type ToolHandler,
} from '@goondan/types';
import { extension, type ScriptedAgentOptions } from '@goondan/runtime/testing';
import { memoryStore } from '../../../../runtime/src/agent/conversation/memory-store.ts';
import { openScriptedModel } from '../../../../runtime/src/agent/model/scripted/open-scripted-model.ts';
import { replayTurn } from '../../../../runtime/src/agent/replay/replay-turn.ts';
import { systemClock } from '../../../../runtime/src/ports/clock.ts';
import type { ChainRecord } from '../../../../runtime/src/trace/turn-trace.ts';
import { mortalStore } from '../../../../runtime/src/testing/mortal-store.ts';
import { recordInMemory } from '../../../../runtime/src/testing/record-in-memory.ts';
import type { Hook } from './hook.ts';
import { sampledCases } from '../../../../../test/samples.ts';
import { agentOpener, baseExtension } from '../../testing/base-extension.ts';

const openAgent = agentOpener();
const textIn = (value: unknown) => (typeof value === 'string' ? value : '');

/** The extension `hooks` with these hooks. */
function hooksExtension(hooks: readonly Hook[], tier: 'hook' | 'swarm' = 'hook') {
  return { ...baseExtension('hooks', { hooks }), tier };
}

/** A hook that notes its id with a tool. */
const noting = (point: HookPoint, id: string, more: Partial<Hook> = {}): Hook => ({
  point,
  action: { toolCall: { tool: 'log__note', args: { id } } },
  ...more,
});

/** Starts an agent whose first model call fails, whose second calls `shop__look`, and whose third answers. */
async function open(
  happened: string[],
  extensions: NonNullable<ScriptedAgentOptions['extensions']>,
  more: ScriptedAgentOptions = {},
) {
  return openAgent({
    policy: { retryBaseMs: 0 },
    script: [
      { when: 'look', fail: { message: 'busy', retryable: true, times: 1 } },
      { when: 'look', call: { tool: 'shop__look' } },
      { afterTool: 'shop__look', say: 'saw {{result.error.code}}' },
      { say: 'You said: {{input}}' },
    ],
    tools: [
      {
        name: 'shop',
        exports: [{ name: 'look', description: 'Looks.' }],
        handlers: { look: () => void happened.push('tool') },
      },
      {
        name: 'log',
        exports: [
          { name: 'note', description: 'Notes.' },
          { name: 'fail', description: 'Fails.' },
        ],
        handlers: {
          note: (_ctx, { id }) => void happened.push(textIn(id)),
          fail: () => {
            throw new Error('full');
          },
        },
      },
    ],
    extensions,
    ...more,
  });
}

/** A code extension with a layer of each kind, which notes where it enters and leaves. Hooks' own calls are left out. */
function codeExtension(name: string, happened: string[]): ExtensionRegister<{ readonly priority: number }> {
  return ({ pipeline }, { priority }) => {
    const around = async <Result>(
      before: string,
      after: string,
      next: () => Promise<Result>,
      failed = after,
    ): Promise<Result> => {
      happened.push(`${name} ${before}`);
      try {
        const result = await next();
        happened.push(`${name} ${after}`);
        return result;
      } catch (error) {
        happened.push(`${name} ${failed}`);
        throw error;
      }
    };
    const options = { priority };
    pipeline.register('turn', (ctx) => around('turn.pre', 'turn.post', () => ctx.next()), options);
    pipeline.register('step', (ctx) => around('step.pre', 'step.post', () => ctx.next(), 'step.llmError'), options);
    pipeline.register('model', (ctx) => around('step.llmCall', 'step.llmCall end', () => ctx.next()), options);
    pipeline.register(
      'toolCall',
      (ctx) => (ctx.callers.length > 0 ? ctx.next() : around('toolCall.pre', 'toolCall.post', () => ctx.next())),
      options,
    );
  };
}

interface Declared {
  readonly name: string;
  readonly priority: number;
}

/**
 * The model: 003 §11.2 as a list, without any code of the runtime. `codes` and `hooks` are in the order of the bundle.
 * §7.1 and §7.2: lower priority first, equal ones in order. §7.3: all extensions, then all hooks. A code extension has
 * no code at the points that it does not name. On the onion, code after `next()` runs from the inside to the outside.
 */
function modelOf(codes: readonly Declared[], hooks: readonly (Declared & { readonly point: HookPoint })[]): string[] {
  const inOrder = <Item extends Declared>(items: readonly Item[]): Item[] => {
    const levels = [...new Set(items.map(({ priority }) => priority))].toSorted((one, other) => one - other);
    return levels.flatMap((level) => items.filter(({ priority }) => priority === level));
  };
  const happened: string[] = [];
  const hooksAt = (point: HookPoint) => {
    for (const { name } of inOrder(hooks.filter((hook) => hook.point === point))) happened.push(name);
  };
  const enter = (point: string) => inOrder(codes).forEach(({ name }) => happened.push(`${name} ${point}`));
  const leave = (point: string) =>
    inOrder(codes)
      .toReversed()
      .forEach(({ name }) => happened.push(`${name} ${point}`));
  const pre = (point: HookPoint) => (enter(point), hooksAt(point));
  const post = (point: HookPoint) => (hooksAt(point), leave(point));

  pre('turn.pre');
  for (const outcome of ['fails', 'calls', 'answers']) {
    pre('step.pre');
    hooksAt('step.config');
    hooksAt('step.tools');
    hooksAt('step.blocks');
    pre('step.llmCall');
    leave('step.llmCall end');
    if (outcome === 'fails') {
      post('step.llmError');
      continue;
    }
    if (outcome === 'calls') {
      pre('toolCall.pre');
      hooksAt('toolCall.exec');
      happened.push('tool');
      post('toolCall.post');
    }
    post('step.post');
  }
  post('turn.post');
  return happened;
}

describe('L-03 twelve points, two extensions and all orders of priorities', () => {
  const levels = [-1, 0, 7];
  const hookLevels = levels.flatMap((one) => levels.flatMap((two) => levels.map((three) => [one, two, three])));
  const codeLevels = [
    [0, 0],
    [5, 0],
    [0, 5],
  ];

  test.each(codeLevels)('L-03 happen in the order of 003 §7: extensions %d and %d', async (first, second) => {
    for (const priorities of sampledCases(hookLevels, 18)) {
      const happened: string[] = [];
      const codes = [
        { name: 'a', priority: first ?? 0 },
        { name: 'b', priority: second ?? 0 },
      ];
      // The points come in turns, so that the list is in no point's order.
      const declared = priorities.flatMap((priority, index) =>
        hookPoints.toReversed().map((point) => ({ point, priority, name: `${point} #${index}` })),
      );
      const hooks = declared.map(({ point, priority, name }) =>
        noting(point, name, priority === 0 ? {} : { priority }),
      );
      const agent = await open(happened, [
        hooksExtension(hooks),
        ...codes.map(({ name, priority }) => extension(name, codeExtension(name, happened), { config: { priority } })),
      ]);
      expect((await agent.say('look')).text).toBe('saw ');
      expect(happened, `priorities ${priorities.join()}`).toEqual(modelOf(codes, declared));
    }
  });
});

describe('a tool call of a hook', () => {
  test('P-19 L-03 passes the sentinels, from every point', async () => {
    const seen: string[] = [];
    const escaped: string[] = [];
    const inside = { outer: 0, inner: 0 };
    const sentinel = (place: 'outer' | 'inner', tier: 'swarm' | 'hook') =>
      extension(
        `sentinel-${place}`,
        ({ pipeline }) =>
          pipeline.register('toolCall', async (ctx) => {
            if (ctx.toolName !== 'log__note') return ctx.next();
            if (place === 'outer') seen.push(textIn(ctx.args['id']));
            inside[place]++;
            try {
              return await ctx.next();
            } finally {
              inside[place]--;
            }
          }),
        { tier },
      );
    const happened: string[] = [];
    const note = happened.push.bind(happened);
    happened.push = (...ids) => {
      if (ids[0] !== 'tool' && (inside.outer !== 1 || inside.inner !== 1)) escaped.push(...ids);
      return note(...ids);
    };
    const agent = await open(happened, [
      sentinel('outer', 'swarm'),
      hooksExtension(hookPoints.map((point) => noting(point, point))),
      sentinel('inner', 'hook'),
    ]);
    const { trace } = await agent.say('look');
    const callers = (chain: ChainRecord): string[] => [
      ...(chain.label === 'log__note' ? [chain.by?.extension ?? 'the model'] : []),
      ...chain.inside.flatMap(callers),
    ];
    expect(new Set(trace && callers(trace))).toEqual(new Set(['hooks']));
    expect(new Set(seen)).toEqual(new Set(hookPoints));
    expect(seen).toEqual(happened.filter((id) => id !== 'tool'));
    expect(escaped).toEqual([]);
  });

  test('does not start tool calls of hooks, also of another hooks extension or deeper inside', async () => {
    const happened: string[] = [];
    const nested: string[] = [];
    const second = hooksExtension([noting('toolCall.pre', 'second'), noting('turn.pre', 'second turn')]);
    const agent = await open(happened, [
      hooksExtension([noting('toolCall.pre', 'first')]),
      { ...second, resource: { ...second.resource, metadata: { name: 'more-hooks' } } },
      // A code layer that calls a tool inside the calls of hooks.
      extension('deeper', ({ pipeline }) =>
        pipeline.register('toolCall', async (ctx) => {
          if (ctx.callers.length === 1) await ctx.tools.call('log__note', { id: 'deeper' });
          nested.push(ctx.callers.map(({ extension: by }) => by).join('>'));
          return ctx.next();
        }),
      ),
    ]);
    await agent.say('look');
    expect(happened).toEqual(['deeper', 'second turn', 'deeper', 'first', 'deeper', 'second', 'tool']);
    expect(nested).toContain('hooks>deeper');
  });

  test('runs for a tool call of a code layer', async () => {
    const happened: string[] = [];
    const agent = await open(happened, [
      hooksExtension([noting('toolCall.pre', 'hook', { tool: 'shop__*' })]),
      extension('calling', ({ pipeline }) =>
        pipeline.register('turn', async (ctx) => {
          await ctx.tools.call('shop__look');
          return ctx.next();
        }),
      ),
    ]);
    await agent.say('hello');
    expect(happened).toEqual(['hook', 'tool']);
  });

  const failing = (point: HookPoint, required?: boolean): Hook => ({
    id: 'doomed',
    point,
    ...(required === undefined ? {} : { required }),
    action: { toolCall: { tool: 'log__fail' } },
  });

  test.each(hookPoints)('L-03 is only a warning when it fails at %s', async (point) => {
    const agent = await open([], [hooksExtension([failing(point)])]);
    expect((await agent.say('look')).text).toBe('saw ');
    expect(agent.logs.map(({ level, message }) => `${level} ${message}`)).toContain(
      'warn Hook "doomed": log__fail failed: full',
    );
  });

  test('L-03 is only a warning when it is written as not required', async () => {
    const agent = await open([], [hooksExtension([failing('turn.pre', false)])]);
    expect((await agent.say('look')).text).toBe('saw ');
  });

  test.each(hookPoints)('L-03 is E_HOOK_FAILED when it fails at %s and is required', async (point) => {
    const agent = await open([], [hooksExtension([failing(point, true)])], {
      policy: { retryBaseMs: 0, maxStepRetries: 3 },
    });
    const { text, result, stepCount } = await agent.say('look');
    if (point.startsWith('toolCall.')) {
      expect(text).toBe('saw E_HOOK_FAILED');
    } else {
      const message = 'Hook "doomed" is required, but log__fail failed: full';
      expect(result).toMatchObject({ finishReason: 'error', error: { code: 'E_HOOK_FAILED', message } });
      // The failure at `step.llmError` replaces the retryable one, so that the step is not retried.
      expect(stepCount).toBe(point === 'turn.post' ? 2 : 0);
    }
  });
});

describe('step.llmError', () => {
  test('L-03 knows the failure, and leaves the decision to retry to the runtime', async () => {
    const happened: string[] = [];
    const args = { id: { expr: 'error.message' } };
    const agent = await open(happened, [
      hooksExtension([{ point: 'step.llmError', action: { toolCall: { tool: 'log__note', args } } }]),
      extension('watching', ({ pipeline }) =>
        pipeline.register('step', async (ctx) => {
          try {
            return await ctx.next();
          } catch (error) {
            happened.push('caught outside');
            throw error;
          }
        }),
      ),
    ]);
    expect((await agent.say('look')).text).toBe('saw ');
    expect(happened).toEqual(['busy', 'caught outside', 'tool']);
  });

  test('does not happen when another hook fails, or a code layer answers for the model', async () => {
    const happened: string[] = [];
    const required = { required: true, action: { toolCall: { tool: 'log__fail' } } } as const;
    const failed = await open(happened, [
      hooksExtension([noting('step.llmError', 'error'), { point: 'step.llmCall', ...required }]),
    ]);
    expect((await failed.say('hello')).result.error?.code).toBe('E_HOOK_FAILED');
    const recovered = await open(happened, [
      hooksExtension([noting('step.llmError', 'error')]),
      extension('recovering', ({ pipeline }) =>
        pipeline.register('model', (ctx) =>
          ctx.next().catch(() => ({
            content: [{ type: 'text' as const, text: 'instead' }],
            finishReason: 'stop' as const,
            usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
          })),
        ),
      ),
    ]);
    expect((await recovered.say('look')).text).toBe('instead');
    expect(happened).toEqual([]);
  });

  test('does not happen when the turn is cancelled', async () => {
    const cancel = new AbortController();
    const generate = () => {
      cancel.abort();
      return Promise.reject(new Error('aborted'));
    };
    const agent = await open([], [hooksExtension([noting('step.llmError', 'error')])], { model: { generate } });
    expect((await agent.say('look', { signal: cancel.signal })).result.error?.code).toBe('E_CANCELLED');
    expect(agent.logs.filter(({ message }) => message.includes('Hook'))).toEqual([]);
  });

  test('happens when a code layer fails the model call', async () => {
    const happened: string[] = [];
    const agent = await open(happened, [
      hooksExtension([noting('step.llmError', 'error'), noting('step.llmCall', 'call')]),
      extension('refusing', ({ pipeline }) =>
        pipeline.register('model', () => Promise.reject(new Error('too expensive'))),
      ),
    ]);
    expect((await agent.say('hello')).result.error?.message).toBe('too expensive');
    expect(happened).toEqual(['error']);
  });
});

describe('the tool calls of hooks at all points', () => {
  const hooks = hooksExtension(hookPoints.map((point) => noting(point, point)));

  test('L-03 of a resumed turn are not repeated, wherever the crash was', async () => {
    let crashes = 0;
    for (let appends = 1; ; appends++) {
      const store = memoryStore();
      const mortal = mortalStore(store, appends);
      const runs: string[] = [];
      const say = async (on: typeof store) => {
        const agent = await open([], [hooks], { store: on, tools: toolsThatNoteIds(runs) });
        return agent.say('look', { event: { id: 'same' } });
      };
      const outcome = await say(mortal).catch(() => 'crashed');
      if (!mortal.isDead()) {
        expect(outcome).toMatchObject({ text: 'saw ' });
        expect(runs).toHaveLength(24);
        break;
      }
      crashes++;
      expect((await say(store)).result.finishReason).toBe('text_response');
      expect(new Set(runs).size).toBe(runs.length);
    }
    expect(crashes).toBeGreaterThanOrEqual(20);
  });

  test('L-03 of a resumed turn keep their places when the model fails before the crash, and no longer after it', async () => {
    const noted = hooksExtension([noting('step.llmError', 'error'), noting('step.post', 'post')]);
    let resumed = 0;
    for (let appends = 1; ; appends++) {
      const store = memoryStore();
      const mortal = mortalStore(store, appends);
      const happened: string[] = [];
      const say = async (on: typeof store, more: ScriptedAgentOptions) =>
        (await open(happened, [noted], { store: on, ...more })).say('look', { event: { id: 'same' } });
      await say(mortal, {}).catch(() => 'crashed');
      if (!mortal.isDead()) break;
      const hasFailed = happened.includes('error');
      await say(store, { script: [{ say: 'The model works again.' }] });
      if (hasFailed) resumed++;
      expect(happened).toContain('post');
    }
    expect(resumed).toBeGreaterThan(0);
  });

  test('L-03 of a replay are served from the recording', async () => {
    const runs: string[] = [];
    const script = [
      { fail: { message: 'busy', retryable: true, times: 1 } },
      { when: 'look', call: { tool: 'shop__look' } },
      { say: 'done' },
    ];
    const plan = {
      agentName: 'tested',
      models: { 'Model/m': openScriptedModel({ script }, systemClock) },
      policy: { retryBaseMs: 0 },
      tools: toolsThatNoteIds(runs),
      extensions: [hooks],
    };
    const { start } = await recordInMemory(plan, ['look']);
    expect(runs).toHaveLength(24);
    const { first, served } = await replayTurn(plan, start);
    expect(first).toBeUndefined();
    expect(served).toMatchObject({ tool: 24 });
    expect(runs).toHaveLength(24);
  });

  function toolsThatNoteIds(runs: string[]) {
    const note: ToolHandler = ({ toolCallId }) => void runs.push(toolCallId);
    return [
      { name: 'shop', exports: [{ name: 'look', description: 'Looks.' }], handlers: { look: note } },
      { name: 'log', exports: [{ name: 'note', description: 'Notes.' }], handlers: { note } },
    ];
  }
});

test('step.llmCall does not happen for a model call of an extension', async () => {
  const happened: string[] = [];
  const agent = await open(happened, [
    hooksExtension([noting('step.llmCall', 'call')]),
    extension('asking', ({ pipeline }) =>
      pipeline.register('turn', async (ctx) => {
        await ctx.model.generate({ messages: [{ role: 'user', content: 'hello' }] });
        return ctx.next();
      }),
    ),
  ]);
  await agent.say('hello');
  expect(agent.requests).toHaveLength(2);
  expect(happened).toEqual(['call']);
});

describe('an extension that takes hooks', () => {
  const taking = (give: (hooks: TakenHooks, ctx: HookedContext) => unknown): ExtensionRegister => {
    return ({ events, pipeline }) => {
      const take = async (ctx: HookedContext) => {
        const given: TakenHooks[] = [];
        events.emit(TAKE_HOOKS, ctx, (hooks: TakenHooks) => given.push(hooks));
        for (const hooks of given) await give(hooks, ctx);
      };
      pipeline.register('turn', async (ctx) => (await take(ctx), ctx.next()));
      pipeline.register('step', async (ctx) => (await take(ctx), ctx.next()));
      pipeline.register('toolCall', async (ctx) => {
        if (ctx.callers.length === 0) await take(ctx);
        return ctx.next();
      });
    };
  };

  test('L-03 and runs none of them does not prevent one', async () => {
    const hooks = hooksExtension(hookPoints.map((point) => noting(point, point)));
    const extensionsOf = (register: ExtensionRegister) => [extension('taking', register), hooks];
    const alone: string[] = [];
    const beside: string[] = [];
    await (await open(alone, [hooks])).say('look');
    await (await open(beside, extensionsOf(taking(() => undefined)))).say('look');
    expect(beside).toEqual(alone);
    expect(new Set(alone)).toEqual(new Set([...hookPoints, 'tool']));
  });

  test('L-03 does not get the identity with which it could act in their name', async () => {
    const codes: unknown[] = [];
    const happened: string[] = [];
    const calling = taking(async ({ identity }, ctx) => {
      const called = ctx.tools.call('log__note', { id: 'in their name' }, identity);
      codes.push(await called.catch((error: unknown) => Reflect.get(Object(error), 'code')));
    });
    const agent = await open(happened, [extension('calling', calling), hooksExtension([noting('turn.pre', 'hook')])]);
    await agent.say('hello');
    expect(new Set(codes)).toEqual(new Set(['E_MESSAGE_INVALID']));
    expect(happened).toEqual(['hook']);
  });
});
