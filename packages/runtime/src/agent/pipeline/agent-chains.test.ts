/** Tests chains as an extension uses them: layers registered through the API, run by a whole agent. */
import { describe, expect, test } from 'bun:test';
import type { ExtensionRegister, JsonValue, MiddlewareKind, PipelineRegistry, ToolCatalogItem } from '@goondan/types';
import { extension, scriptedAgent, type ScriptedAgentOptions } from '../../testing/index.ts';
import { beforeNext } from '../../testing/one-layer.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';

const kinds: readonly MiddlewareKind[] = ['turn', 'step', 'toolCall', 'model'];

/** A script that calls the tool once, and then answers. */
const callThenSay: ScriptedAgentOptions['script'] = [
  { when: 'go', call: { tool: 'echo__say', args: { text: 'hello' } } },
  { afterTool: 'echo__say', say: 'done' },
];

/** Declares a tool that keeps the arguments it receives. */
function echoTool(received: JsonValue[] = []): ToolDeclaration {
  return {
    name: 'echo',
    exports: [{ name: 'say', description: 'Says it again.' }],
    handlers: {
      say: (_, input) => {
        received.push(input);
        return { said: input };
      },
    },
  };
}

/** Creates an extension whose layers record when they start and when they return. */
function marking(name: string, seen: string[], on: readonly MiddlewareKind[] = kinds): ReturnType<typeof extension> {
  return extension(name, (api) => {
    for (const kind of on) registerMarking(api.pipeline, kind, name, seen);
  });
}

function registerMarking(pipeline: PipelineRegistry, kind: MiddlewareKind, name: string, seen: string[], priority = 0) {
  const mark = async <Result>(ctx: { next(): Promise<Result> }): Promise<Result> => {
    seen.push(`${name} ${kind} pre`);
    const result = await ctx.next();
    seen.push(`${name} ${kind} post`);
    return result;
  };
  // The cast is needed because one function serves all four kinds, but each overload of `register` takes one kind.
  pipeline.register(kind as 'turn', mark, { priority });
}

describe('one way to hook in', () => {
  test('P-01 pipeline has register and nothing else: no mutate, no wrap', async () => {
    let members: string[] = [];
    const register: ExtensionRegister = (api) => {
      members = [...Object.keys(api.pipeline), ...['mutate', 'wrap'].filter((old) => old in api.pipeline)];
    };
    await scriptedAgent({ extensions: [extension('looker', register)] });
    expect(members).toEqual(['register']);
  });
});

describe('order', () => {
  test('P-17 turn ⊃ step ⊃ model call, then toolCall ⊃ handler, each an onion (P-03)', async () => {
    const seen: string[] = [];
    const tool: ToolDeclaration = {
      name: 'echo',
      exports: [{ name: 'say', description: '' }],
      handlers: { say: () => void seen.push('handler') },
    };
    const agent = await scriptedAgent({
      script: callThenSay,
      tools: [tool],
      extensions: [marking('a', seen), marking('b', seen)],
    });
    await agent.say('go');
    const onion = (kind: MiddlewareKind, inside: string[]) => [
      `a ${kind} pre`,
      `b ${kind} pre`,
      ...inside,
      `b ${kind} post`,
      `a ${kind} post`,
    ];
    expect(seen).toEqual(
      onion('turn', [
        ...onion('step', [...onion('model', []), ...onion('toolCall', ['handler'])]),
        ...onion('step', onion('model', [])),
      ]),
    );
  });

  test('P-04 extensions run in the order they are declared, whatever their names', async () => {
    const names = ['zeta', 'alpha', 'mu'];
    const agent = await scriptedAgent({ extensions: names.map((name) => marking(name, [])) });
    for (const kind of kinds) expect(agent.layers(kind)).toEqual(names.map((name) => `${name}/mark`));
  });

  test('P-05 swarm-wide extensions are outside and hooks inside, whatever their priorities and their order in the plan', async () => {
    const tiered = (tier: 'swarm' | 'agent' | 'innermost' | 'hook', priority: number) =>
      extension(tier, (api) => registerMarking(api.pipeline, 'toolCall', tier, [], priority), { tier });
    const agent = await scriptedAgent({
      extensions: [tiered('hook', -9), tiered('innermost', -5), tiered('agent', 0), tiered('swarm', 9)],
    });
    expect(agent.layers('toolCall')).toEqual(['swarm/mark', 'agent/mark', 'innermost/mark', 'hook/mark']);
  });
});

describe('a catalog changed by a step layer', () => {
  const twoTools = [echoTool(), { ...echoTool(), name: 'other' }];
  const changes: Record<string, (ctx: { toolCatalog: ToolCatalogItem[] }) => void> = {
    reassigned: (ctx) => {
      ctx.toolCatalog = ctx.toolCatalog.filter((tool) => tool.name !== 'echo__say');
    },
    mutated: (ctx) => void ctx.toolCatalog.splice(0, 1),
  };

  test.each(Object.entries(changes))(
    'P-07 %s: every inner layer and the model call see the change',
    async (_, change) => {
      const seen: string[][] = [];
      const see = (tools: readonly ToolCatalogItem[]) => void seen.push(tools.map((tool) => tool.name));
      const agent = await scriptedAgent({
        tools: twoTools,
        extensions: [
          beforeNext('filter', 'step', (ctx) => change(ctx)),
          extension('inner', (api) => {
            api.pipeline.register('step', (ctx) => {
              see(ctx.toolCatalog);
              return ctx.next();
            });
            api.pipeline.register('model', (ctx) => {
              see(ctx.tools);
              return ctx.next();
            });
          }),
        ],
      });
      await agent.say('hi');
      see(agent.requests[0]?.tools ?? []);
      expect(seen).toEqual([['other__say'], ['other__say'], ['other__say']]);
    },
  );

  test('P-07 lasts for that step only, also when an item was changed in place', async () => {
    const agent = await scriptedAgent({
      tools: [echoTool()],
      extensions: [
        beforeNext('rename', 'step', (ctx) => {
          for (const tool of ctx.toolCatalog) tool.description += '!';
        }),
      ],
    });
    await agent.say('one');
    await agent.say('two');
    expect(agent.requests.map(({ tools }) => tools[0]?.description)).toEqual(['Says it again.!', 'Says it again.!']);
  });
});

describe('arguments changed by a toolCall layer', () => {
  const changes: Record<string, (ctx: { args: Record<string, JsonValue> }) => void> = {
    reassigned: (ctx) => {
      ctx.args = { ...ctx.args, text: 'changed' };
    },
    mutated: (ctx) => {
      ctx.args.text = 'changed';
    },
  };

  test.each(Object.entries(changes))(
    'P-08 %s: every inner layer and the handler receive the change',
    async (_, change) => {
      const received: JsonValue[] = [];
      const agent = await scriptedAgent({
        script: callThenSay,
        tools: [echoTool(received)],
        extensions: [
          beforeNext('rewriter', 'toolCall', (ctx) => change(ctx)),
          beforeNext('inner', 'toolCall', (ctx) => received.push(structuredClone(ctx.args))),
        ],
      });
      await agent.say('go');
      expect(received).toEqual([{ text: 'changed' }, { text: 'changed' }]);
      // The conversation keeps the arguments as the model wrote them.
      expect(JSON.stringify(agent.requests[1]?.messages)).toContain('"input":{"text":"hello"}');
    },
  );
});

describe('a transformed result', () => {
  test('P-09 reaches the outer layer and the caller, for each kind', async () => {
    const seen: unknown[] = [];
    const agent = await scriptedAgent({
      script: callThenSay,
      tools: [echoTool()],
      extensions: [
        extension('outer', (api) => {
          api.pipeline.register('turn', async (ctx) => {
            const result = await ctx.next();
            seen.push(['turn', result.finishReason]);
            return result;
          });
          api.pipeline.register('step', async (ctx) => {
            const result = await ctx.next();
            seen.push(['step', result.metadata]);
            return result;
          });
          api.pipeline.register('toolCall', async (ctx) => {
            const result = await ctx.next();
            seen.push(['toolCall', result.output]);
            return result;
          });
          api.pipeline.register('model', async (ctx) => {
            const reply = await ctx.next();
            seen.push(['model', reply.finishReason]);
            return reply;
          });
        }),
        extension('inner', (api) => {
          api.pipeline.register('turn', async (ctx) => ({ ...(await ctx.next()), finishReason: 'max_steps' }));
          api.pipeline.register('step', async (ctx) => ({ ...(await ctx.next()), metadata: { marked: true } }));
          api.pipeline.register('toolCall', async (ctx) => ({ ...(await ctx.next()), output: 'secret' }));
          api.pipeline.register('model', async (ctx) => ({ ...(await ctx.next()), finishReason: 'other' }));
        }),
      ],
    });
    const turn = await agent.say('go');
    expect(turn.result.finishReason).toBe('max_steps');
    expect(seen).toEqual([
      ['model', 'other'],
      ['toolCall', 'secret'],
      ['step', { marked: true }],
      ['model', 'other'],
      ['step', { marked: true }],
      ['turn', 'max_steps'],
    ]);
    expect(JSON.stringify(agent.requests[1]?.messages.at(-1))).toContain('"value":"secret"');
  });
});

describe('metadata', () => {
  test.each(['mutated', 'replaced'])(
    'P-15 is one object for all layers, steps and calls of a turn (%s)',
    async (how) => {
      const seen: string[] = [];
      const note = (ctx: { metadata: Record<string, JsonValue> }, key: string) => {
        seen.push(Object.keys(ctx.metadata).join(' '));
        if (how === 'mutated') ctx.metadata[key] = true;
        else ctx.metadata = { ...ctx.metadata, [key]: true };
      };
      const noting: ExtensionRegister = (api) => {
        api.pipeline.register('turn', async (ctx) => {
          note(ctx, 'turn');
          const result = await ctx.next();
          note(ctx, 'after');
          return result;
        });
        api.pipeline.register('step', (ctx) => {
          note(ctx, `step-${ctx.stepIndex}`);
          return ctx.next();
        });
        api.pipeline.register('toolCall', (ctx) => {
          note(ctx, 'call');
          return ctx.next();
        });
      };
      const agent = await scriptedAgent({
        script: callThenSay,
        tools: [echoTool()],
        extensions: [extension('noting', noting)],
      });
      const everything = ['', 'turn', 'turn step-0', 'turn step-0 call', 'turn step-0 call step-1'];
      await agent.say('go');
      expect(seen).toEqual(everything);
      await agent.say('go');
      expect(seen).toEqual([...everything, ...everything]);
    },
  );
});
