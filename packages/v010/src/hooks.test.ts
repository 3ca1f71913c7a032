// Declared hooks of an agent with old extensions: at each point, all extensions come first, then all hooks (003 §7.3).
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type HookPoint, hookPoints, type ToolCaller } from '@goondan/types';
import { memoryStore } from '@goondan/runtime/history';
import { extension, scriptedAgent, type ScriptedAgentOptions } from '@goondan/runtime/testing';
import { mortalStore } from '../../runtime/src/testing/mortal-store.ts';
import { oneLayer } from '../../runtime/src/testing/one-layer.ts';
import { samples } from '../../../test/samples.ts';
import { declaredHooks, notingHook, oldBundle, startOldAgent, toolNames } from './testing/old-agent.ts';
import {
  isMiddlewarePoint,
  middlewarePoints,
  mutatorPoints,
  type OldExtension,
  type OldHandler,
  predictTurn,
  type Reply,
} from './testing/pipeline-model.ts';

const points = [...mutatorPoints, ...middlewarePoints];

interface DeclaredHook {
  readonly point: HookPoint;
  readonly priority: number;
}

/**
 * The model: hooks are the handlers of one more extension, after all others (§7.3). A hook at a middleware point only acts
 * before `next()`.
 */
async function predict(
  extensions: readonly OldExtension[],
  hooks: readonly DeclaredHook[],
  replies: readonly Reply[],
): Promise<string[]> {
  const handlers = hooks.map(({ point, priority }) => ({ point, priority: priority + 1_000_000 }));
  const notes = await predictTurn([...extensions, { name: 'hook', handlers }], replies);
  return notes.flatMap((note) => (note.includes(' hook#') ? toHookNotes(note) : [note]));
}

function toHookNotes(note: string): string[] {
  return note.endsWith(' out') ? [] : [note.replace(/ in$/, '')];
}

async function compare(
  extensions: readonly OldExtension[],
  hooks: readonly DeclaredHook[],
  turns: readonly (readonly Reply[])[],
): Promise<void> {
  const noting = hooks.map(({ point, priority }, index) => notingHook(point, `${point} hook#${index}`, priority));
  using old = await startOldAgent(extensions, { after: [declaredHooks(noting)] });
  for (const replies of turns) expect(await old.turn(replies)).toEqual(await predict(extensions, hooks, replies));
  await old.agent.close();
}

/** An extension with one handler at each of these points. */
const atPoints = (name: string, at: readonly OldHandler['point'][]): OldExtension => ({
  name,
  handlers: at.map((point) => ({ point, ...(point === 'step.llmError' ? { decides: true } : {}) })),
});

describe('hooks beside old extensions', () => {
  test('L-03 L-04 follow the extensions at each of the points, as 003 §7.3 shows', async () => {
    const hooks = hookPoints.flatMap((point) => [5, 0, 5].map((priority) => ({ point, priority })));
    await compare([atPoints('a', points), atPoints('b', points)], hooks, [
      [[]],
      [['x'], []],
      ['error', ['x', 'y'], []],
    ]);
  });

  test.each(points)('L-03 L-04 are in the order of 003 §3.3 beside a function only at %s', async (point) => {
    const hooks = hookPoints.map((at) => ({ point: at, priority: 0 }));
    await compare([atPoints('old', [point])], hooks, [
      [['x'], []],
      ['error', []],
    ]);
  });

  const handler = fc.constantFrom(...points).map((point): OldHandler => ({ point }));
  const hook = fc.record({ point: fc.constantFrom(...hookPoints), priority: fc.constantFrom(-7, 0, 7) });
  const replies: fc.Arbitrary<Reply[]> = fc.array(
    fc.oneof(fc.constant<Reply>('error'), fc.subarray([...toolNames], { minLength: 1 })),
    { maxLength: 2 },
  );

  test('L-03 L-04 are in the order of 003, whatever the points and priorities', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(handler, { maxLength: 8 }),
        fc.array(handler, { maxLength: 4 }),
        fc.array(hook, { maxLength: 10 }),
        replies,
        (first, second, hooks, turn) =>
          compare(
            [
              { name: 'a', handlers: first },
              { name: 'b', handlers: second },
            ],
            hooks,
            [turn],
          ),
      ),
      { numRuns: samples(100, 10) },
    );
  });

  test('L-03 L-04 run alone when the last old extension has left', async () => {
    const hooks = [notingHook('turn.pre', 'hook before'), notingHook('turn.post', 'hook after')];
    using old = await startOldAgent([atPoints('a', ['turn.post'])], { after: [declaredHooks(hooks)] });
    expect(await old.turn([])).toEqual(['hook before', 'LLM', 'turn.post a#0', 'hook after']);
    await old.change([]);
    expect(await old.turn([])).toEqual(['hook before', 'LLM', 'hook after']);
  });

  test('L-01 L-03 of two extensions are in the order of the agent, also after a change of it', async () => {
    const hooksOf = (name: string) => declaredHooks([notingHook('turn.pre', name)], name);
    const [after, extensions] = [[hooksOf('one'), hooksOf('two')], [atPoints('a', ['turn.pre'])]];
    using old = await startOldAgent(extensions, { after });
    expect(await old.turn([])).toEqual(['turn.pre a#0', 'one', 'two', 'LLM']);
    after.reverse();
    await old.change(extensions);
    expect(await old.turn([])).toEqual(['turn.pre a#0', 'two', 'one', 'LLM']);
  });

  test('L-01 L-03 keep the order of a running turn whose old extension leaves, and have their own from the next step', async () => {
    const hooks = [notingHook('step.post', 'hook of the step'), notingHook('turn.post', 'hook of the turn')];
    using old = await startOldAgent([atPoints('a', ['step.post', 'turn.post'])], { after: [declaredHooks(hooks)] });
    let swapped: Promise<void> | undefined;
    const notes = await old.turn([['x'], []], async () => {
      swapped ??= (await old.prepare([])).swap();
    });
    await swapped;
    expect(notes).toEqual([
      ...['LLM', 'tool x', 'step.post a#0', 'hook of the step'],
      ...['LLM', 'hook of the step', 'turn.post a#1', 'hook of the turn'],
    ]);
  });
});

/** Options of an agent whose model calls `shop__look`, if it is asked to look. `hook__note` notes, `hook__fail` fails. */
function shopping(noted: unknown[]): ScriptedAgentOptions {
  const exports = ['note', 'fail'].map((name) => ({ name, description: 'Does it.' }));
  return {
    policy: { retryBaseMs: 0, maxStepRetries: 3 },
    script: [
      { when: 'look', fail: { message: 'busy', retryable: true, times: 1 } },
      { when: 'look', call: { tool: 'shop__look' } },
      { afterTool: 'shop__look', say: 'saw {{result.error.code}}' },
    ],
    tools: [
      {
        name: 'shop',
        exports: [{ name: 'look', description: 'Looks.' }],
        handlers: { look: () => (noted.push('tool'), 'seen') },
      },
      {
        name: 'hook',
        exports,
        handlers: {
          note: (_ctx, { text }) => void noted.push(text),
          fail: () => Promise.reject(new Error('full')),
        },
      },
    ],
  };
}

/** The code of an old extension with a function at every point, which changes nothing. */
const everywhere = points
  .map((point) =>
    isMiddlewarePoint(point)
      ? `api.pipelines.wrap('${point}', (ctx, next) => next(ctx));`
      : point === 'step.llmError'
        ? `api.pipelines.mutate('${point}', (ctx) => ({ ...ctx, shouldRetry: true, retryDelayMs: 0 }));`
        : `api.pipelines.mutate('${point}', (ctx) => ctx);`,
  )
  .join('\n');

describe('a hook beside an old extension', () => {
  const noting = (point: HookPoint, expr: string) => ({
    point,
    action: { toolCall: { tool: 'hook__note', args: { text: { expr } } } },
  });

  test.each<[HookPoint, string, string, unknown]>([
    [
      'step.tools',
      'tools',
      `(ctx) => ({ ...ctx, toolCatalog: ctx.toolCatalog.slice(1) })`,
      ['hook__note', 'hook__fail'],
    ],
    ['step.llmError', 'error.retryAfterMs', `(ctx) => ({ ...ctx, shouldRetry: true, retryDelayMs: 3 })`, 3],
    ['toolCall.pre', 'tool.args', `(ctx) => { ctx.toolCall.args = { a: 1 }; return ctx; }`, { a: 1 }],
    ['toolCall.post', 'result.output', `(ctx) => { ctx.toolResult.output = 'other'; return ctx; }`, 'other'],
  ])('L-03 L-04 at %s sees in %s what the extension changed', async (point, expr, change, expected) => {
    using bundle = oldBundle({
      old: `api.pipelines.mutate('${point}', (ctx) => ctx.toolCall?.name === 'hook__note' ? ctx : (${change})(ctx));`,
    });
    const noted: unknown[] = [];
    const agent = await scriptedAgent({
      ...shopping(noted),
      extensions: [...bundle.extensions, declaredHooks([noting(point, expr)])],
    });
    await agent.say('look');
    expect(noted.filter((each) => each !== 'tool')[0]).toEqual(expected);
  });

  test.each(hookPoints)('L-03 L-04 is E_HOOK_FAILED of its extension when it fails at %s', async (point) => {
    using bundle = oldBundle({ old: everywhere });
    const noted: unknown[] = [];
    const agent = await scriptedAgent({
      ...shopping(noted),
      extensions: [
        ...bundle.extensions,
        declaredHooks([{ point, required: true, action: { toolCall: { tool: 'hook__fail' } } }]),
      ],
    });
    const { text, result } = await agent.say('look');
    if (point.startsWith('toolCall.')) {
      expect(text).toBe('saw E_HOOK_FAILED');
      expect(noted).toEqual(point === 'toolCall.post' ? ['tool'] : []);
    } else {
      expect(result.error).toMatchObject({ code: 'E_HOOK_FAILED', extension: 'hooks' });
    }
  });

  test('L-03 L-04 that refuses a tool call at toolCall.pre skips toolCall.exec, and toolCall.post sees the refusal', async () => {
    using bundle = oldBundle({
      old: `
        api.pipelines.wrap('toolCall.exec', (ctx, next) => (note('exec ' + ctx.toolCall.name), next(ctx)));
        api.pipelines.mutate('toolCall.post', (ctx) => (note(ctx.toolResult.error?.code), ctx));`,
    });
    const agent = await scriptedAgent({
      ...shopping([]),
      extensions: [
        ...bundle.extensions,
        declaredHooks([
          { point: 'toolCall.pre', tool: 'shop__*', required: true, action: { toolCall: { tool: 'hook__fail' } } },
          { point: 'toolCall.post', action: { toolCall: { tool: 'hook__note', args: { text: 'not called' } } } },
        ]),
      ],
    });
    expect((await agent.say('look')).text).toBe('saw E_HOOK_FAILED');
    expect(bundle.notes).toEqual(['exec hook__fail', 'E_TOOL_FAILED', 'E_HOOK_FAILED']);
  });

  test('L-03 step.llmError has no hook when a layer between fails the step', async () => {
    using bundle = oldBundle({ old: everywhere });
    const noted: unknown[] = [];
    const agent = await scriptedAgent({
      ...shopping(noted),
      extensions: [
        ...bundle.extensions,
        oneLayer('failing', 'step', () => Promise.reject(new Error('no'))),
        declaredHooks([notingHook('step.llmError', 'hook')]),
      ],
    });
    expect((await agent.say('look')).result.error?.message).toBe('no');
    expect(noted).toEqual([]);
  });

  test('P-19 L-03 calls its tool in its own name, so that its call starts no other hook', async () => {
    const callers: string[] = [];
    const show = (list: readonly ToolCaller[]) => list.map(({ extension: by, tier }) => `${by}:${tier}`).join();
    using bundle = oldBundle({ old: everywhere });
    const noted: unknown[] = [];
    const agent = await scriptedAgent({
      ...shopping(noted),
      extensions: [
        oneLayer('watching', 'toolCall', (ctx) => (callers.push(`${ctx.toolName} ${show(ctx.callers)}`), ctx.next())),
        ...bundle.extensions,
        declaredHooks([notingHook('toolCall.pre', 'first')]),
        declaredHooks([notingHook('toolCall.pre', 'second')], 'more-hooks'),
      ],
    });
    await agent.say('look');
    expect(noted).toEqual(['first', 'second', 'tool']);
    expect(callers).toEqual(['shop__look ', 'hook__note hooks:hook', 'hook__note more-hooks:hook']);
  });

  test('L-03 of a resumed turn is not repeated, wherever the crash was', async () => {
    using bundle = oldBundle({ old: everywhere });
    const at = ['turn.pre', 'step.config', 'toolCall.pre', 'step.post', 'turn.post'] as const;
    const hooks = declaredHooks(at.map((point) => notingHook(point, point)));
    for (let appends = 1, isOver = false; !isOver; appends++) {
      const store = memoryStore();
      const mortal = mortalStore(store, appends);
      const noted: unknown[] = [];
      const say = async (on: typeof store) => {
        const extensions = [...bundle.extensions, hooks];
        const agent = await scriptedAgent({ ...shopping(noted), extensions, store: on });
        return agent.say('look', { event: { id: 'same' } });
      };
      const outcome = await say(mortal).catch(() => 'crashed');
      isOver = !mortal.isDead();
      if (isOver) expect(outcome).toMatchObject({ text: 'saw ' });
      else expect((await say(store)).result.finishReason).toBe('text_response');
      const times = (point: HookPoint) => noted.filter((each) => each === point).length;
      expect([times('turn.pre'), times('turn.post'), times('toolCall.pre')], `crash ${appends}`).toEqual([1, 1, 1]);
    }
  });
});

test('L-03 hooks of an agent without functions of old extensions at a level run in their own layers', async () => {
  const seen: string[] = [];
  using bundle = oldBundle({ old: `api.pipelines.mutate('turn.post', (ctx) => (note('old'), ctx));` });
  const agent = await scriptedAgent({
    ...shopping([]),
    extensions: [
      ...bundle.extensions,
      extension('inner', ({ pipeline }) => {
        pipeline.register('toolCall', (ctx) => (seen.push(`layer ${ctx.toolName}`), ctx.next()));
      }),
      declaredHooks([notingHook('toolCall.pre', 'hook')]),
    ],
  });
  await agent.say('look');
  expect(seen).toEqual(['layer shop__look', 'layer hook__note']);
});
