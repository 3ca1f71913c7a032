// The contexts of the points around a step: tools, blocks, the step itself, and failed model calls.
import { describe, expect, test } from 'bun:test';
import { scriptedAgent, type ScriptedAgentOptions } from '@goondan/runtime/testing';
import type { ContextBlock, OldRegister, OldStepContext } from './old-types.ts';
import type { MutatorPoint } from './points.ts';
import { beforeNext } from '../../runtime/src/testing/one-layer.ts';
import { callsTool, oldExtension } from './testing/old-extension.ts';

const start = (register: OldRegister, options: ScriptedAgentOptions = {}) =>
  scriptedAgent({ ...options, extensions: [oldExtension('old', register)] });

const startAt = (
  point: Extract<MutatorPoint, `step.${string}`>,
  change: (ctx: OldStepContext) => OldStepContext,
  options?: ScriptedAgentOptions,
) => start(({ pipelines }) => pipelines.mutate(point as 'step.pre', change), options);

describe('the context of a step', () => {
  test('L-04 has the step with its id, its index, its times and, at step.post, the reply', async () => {
    const steps: OldStepContext['step'][] = [];
    const agent = await startAt(
      'step.post',
      (ctx) => {
        steps.push(ctx.step);
        return ctx;
      },
      callsTool,
    );
    await agent.say('go');
    const replies = (await agent.messages()).flatMap(({ source }) =>
      source.type === 'assistant' ? source.stepId : [],
    );
    expect(steps.map(({ id, index }) => [id, index])).toEqual(replies.map((id, index) => [id, index]));
    for (const { startedAt, endedAt } of steps) {
      expect(startedAt).toBeInstanceOf(Date);
      expect(endedAt?.getTime()).toBeGreaterThanOrEqual(startedAt.getTime());
    }
    const calls = [{ id: 'call_1', name: 'echo__run', args: { text: 'hello' } }];
    expect(steps[0]?.llmResult).toMatchObject({
      message: { role: 'assistant', toolCalls: calls },
      toolCalls: calls,
      meta: { finishReason: 'tool-calls', usage: { totalTokens: expect.any(Number) } },
    });
    expect(steps[1]?.llmResult).toMatchObject({ message: { content: 'done' }, toolCalls: [] });
  });

  test('L-04 has the results of earlier calls of the turn', async () => {
    const counts: number[] = [];
    const count = (ctx: OldStepContext) => {
      counts.push(ctx.turn.toolResults.length);
      return ctx;
    };
    const agent = await start(({ pipelines }) => {
      pipelines.mutate('step.pre', count);
      pipelines.mutate('step.post', count);
    }, callsTool);
    await agent.say('go');
    expect(counts).toEqual([0, 1, 1, 1]);
  });

  test('L-04 the turn waits for the functions at step.post, and fails with their error', async () => {
    const agent = await start(({ pipelines }) => {
      pipelines.mutate('step.post', async () => {
        await new Promise((done) => void setImmediate(done));
        throw new Error('late');
      });
    });
    expect((await agent.say('hello')).result.error).toMatchObject({ message: 'late', extension: 'old' });
  });

  test('L-04 a changed activeSwarmRef is an error that names the tool bundle', async () => {
    const agent = await startAt('step.config', (ctx) => ({ ...ctx, activeSwarmRef: 'git:other' }));
    const { result } = await agent.say('hello');
    expect(result.error).toMatchObject({ code: 'E_EXT_COMPAT', suggestion: expect.stringContaining('`bundle`') });
  });

  test('L-04 fields of its own that a function adds reach the later functions of the step', async () => {
    const seen: unknown[] = [];
    const agent = await start(({ pipelines }) => {
      pipelines.mutate('step.pre', (ctx) => ({ ...ctx, mine: 1 }));
      for (const point of ['step.blocks', 'step.llmInput', 'step.post'] as const) {
        pipelines.mutate(point, (ctx) => {
          seen.push(Reflect.get(ctx, 'mine'));
          return ctx;
        });
      }
    });
    await agent.say('hello');
    expect(seen).toEqual([1, 1, 1]);
  });
});

describe('the tools of a step', () => {
  test('L-04 are those that the functions leave in the catalog', async () => {
    const agent = await startAt(
      'step.tools',
      (ctx) => ({
        ...ctx,
        toolCatalog: [
          ...ctx.toolCatalog.map((item) => ({ ...item, description: 'Changed.' })),
          { name: 'dynamic.tool', description: 'New.', source: { type: 'dynamic' } },
        ],
      }),
      callsTool,
    );
    await agent.say('hello');
    expect(agent.requests[0]?.tools).toEqual([
      // The effects that the runtime knows are kept.
      {
        name: 'echo__run',
        description: 'Changed.',
        parameters: { type: 'object' },
        annotations: { effects: 'external', idempotent: false },
      },
      { name: 'dynamic.tool', description: 'New.' },
    ]);
  });

  test('L-04 have the sources of 003 §5.1, from step.tools to toolCall.pre', async () => {
    const seen: Record<string, unknown>[] = [];
    const see = <Context extends OldStepContext>(ctx: Context): Context => {
      seen.push(Object.fromEntries(ctx.toolCatalog.map(({ name, source }) => [name, source])));
      return ctx;
    };
    const source = { type: 'dynamic', extension: 'old' } as const;
    const old = oldExtension('old', ({ pipelines, tools }) => {
      tools.register({ name: 'own__tool' }, () => null);
      pipelines.mutate('step.tools', (ctx) => ({
        ...ctx,
        toolCatalog: [...ctx.toolCatalog, { name: 'with.source', source }, { name: 'without.source' }],
      }));
      for (const point of ['step.tools', 'step.llmInput', 'toolCall.pre'] as const) pipelines.mutate(point, see);
    });
    const inner = beforeNext('inner', 'step', (ctx) => {
      ctx.toolCatalog = [...ctx.toolCatalog, { name: 'inner.tool', description: 'Inner.' }];
    });
    const agent = await scriptedAgent({ ...callsTool, extensions: [old, inner] });
    await agent.say('go');
    const atTools = { echo__run: { type: 'static' }, own__tool: source, 'with.source': source };
    const later = { ...atTools, 'without.source': { type: 'dynamic' }, 'inner.tool': { type: 'dynamic' } };
    expect(seen.slice(0, 3)).toEqual([{ ...atTools, 'without.source': undefined }, later, later]);
  });

  test('L-04 a tool that was left out cannot be called', async () => {
    const agent = await startAt('step.tools', (ctx) => ({ ...ctx, toolCatalog: [] }), callsTool);
    await agent.say('go');
    expect(agent.requests[0]?.tools).toEqual([]);
    expect(JSON.stringify(await agent.messages())).toContain('E_TOOL_NOT_OFFERED');
  });

  test('L-04 a tool that is added at step.llmInput may be called', async () => {
    const agent = await start(({ pipelines }) => {
      pipelines.mutate('step.tools', (ctx) => ({ ...ctx, toolCatalog: [] }));
      const item = { name: 'echo__run', description: 'Says the text.', parameters: { type: 'object' } };
      pipelines.mutate('step.llmInput', (ctx) => ({ ...ctx, toolCatalog: [item] }));
    }, callsTool);
    await agent.say('go');
    expect(JSON.stringify(await agent.messages())).toContain('"type":"json","value":{"text":"hello"}');
  });

  test.each<[string, unknown, string]>([
    ['is not a list', 'tools', 'toolCatalog is not an array of tools'],
    ['has a tool without a name', [{ description: 'x' }], 'a tool in toolCatalog has no name'],
  ])('L-04 a catalog that %s is an error that names the extension and the point', async (_, toolCatalog, problem) => {
    const agent = await startAt('step.tools', (ctx) => ({ ...ctx, toolCatalog: toolCatalog as never }));
    expect((await agent.say('hello')).result.error).toMatchObject({
      code: 'E_MIDDLEWARE_RESULT',
      message: `Extension "old", step.tools: ${problem}.`,
    });
  });
});

describe('context blocks', () => {
  const withBlocks = async (change: (blocks: ContextBlock[]) => ContextBlock[]) => {
    const agent = await startAt('step.blocks', (ctx) => ({ ...ctx, blocks: change(ctx.blocks) }), {
      systemPrompt: 'Be kind.',
    });
    const turn = await agent.say('hello');
    return {
      agent,
      turn,
      sent: agent.requests[0]?.messages.map(
        ({ role, content }) => `${role}: ${typeof content === 'string' ? content : ''}`,
      ),
    };
  };

  test('L-04 start with the system prompt, and become system messages before the conversation', async () => {
    const { agent, sent } = await withBlocks((blocks) => {
      expect(blocks).toEqual([{ type: 'system.prompt', data: 'Be kind.' }]);
      return [
        ...blocks,
        { type: 'memory.context', data: 'Likes tea.' },
        { type: 'skills.catalog', items: ['bake', { name: 'cook' }], priority: 5 },
        { type: 'custom.data', data: { a: 1 } },
      ];
    });
    expect(sent).toEqual([
      'system: [skills.catalog]\n- bake\n- {"name":"cook"}',
      'system: Be kind.',
      'system: [memory.context]\nLikes tea.',
      'system: [custom.data]\n{"a":1}',
      'user: hello',
    ]);
    // They belong to one model call.
    expect((await agent.messages()).map(({ data }) => data.role)).toEqual(['user', 'assistant']);
  });

  test('L-04 a changed or removed system prompt is that of the model call', async () => {
    const changed = await withBlocks(() => [{ type: 'system.prompt', data: 'Be brief.' }]);
    expect(changed.sent).toEqual(['system: Be brief.', 'user: hello']);
    expect((await withBlocks(() => [])).sent).toEqual(['user: hello']);
    expect((await withBlocks(() => [{ type: 'memory.context' }])).sent).toEqual(['user: hello']);
  });

  test('L-04 that nobody changed leave the request as it is', async () => {
    expect((await withBlocks((blocks) => blocks)).sent).toEqual(['system: Be kind.', 'user: hello']);
  });

  test('L-04 a system message of the conversation is not taken for the system prompt', async () => {
    const blocks: unknown[] = [];
    const agent = await start(({ pipelines }) => {
      pipelines.mutate('turn.pre', async (ctx) => {
        await ctx.emitMessageEvent({
          type: 'system_message',
          message: { id: 's', role: 'system', content: 'Earlier.' },
        });
        return ctx;
      });
      pipelines.mutate('step.blocks', (ctx) => {
        blocks.push(...ctx.blocks);
        return ctx;
      });
    });
    await agent.say();
    expect(agent.requests[0]?.messages).toEqual([{ role: 'system', content: 'Earlier.' }]);
    expect(blocks).toEqual([]);
  });

  test('L-04 a change after step.blocks, and a block without a type, are errors', async () => {
    const late = await start(({ pipelines }) => {
      pipelines.mutate('step.llmInput', (ctx) => ({ ...ctx, blocks: [{ type: 'custom.late' }] }));
    });
    expect((await late.say('hello')).result.error).toMatchObject({
      code: 'E_EXT_COMPAT',
      message: 'Extension "old" changed ctx.blocks at step.llmInput.',
    });
    const wrong: readonly [object, string][] = [
      [{ data: 'x' }, 'a context block has no type'],
      [{ type: 'x', items: 'y' }, 'the items of context block "x" are not an array'],
      [{ type: 'x', priority: Number.NaN }, 'the priority of context block "x" is not a number'],
    ];
    for (const [block, problem] of wrong) {
      const { turn } = await withBlocks(() => [block as never]);
      expect(turn.result.error?.message).toBe(`Extension "old", step.blocks: ${problem}.`);
    }
  });
});

describe('step.llmError', () => {
  test('L-04 message events that it emits survive the retry', async () => {
    const agent = await start(
      ({ pipelines }) => {
        pipelines.mutate('step.llmError', async (ctx) => {
          await ctx.emitMessageEvent({ type: 'truncate' });
          return { ...ctx, shouldRetry: true, retryDelayMs: 0 };
        });
      },
      { script: [{ when: 'one', say: 'first' }, { fail: { message: 'too long', times: 1 } }, { say: 'done' }] },
    );
    await agent.say('one');
    await agent.say('two');
    expect(agent.requests.at(-1)?.messages.map(({ content }) => content)).toEqual(['two']);
  });
});
