/** Tests which layers and tools an extension may register, and when. */
import { describe, expect, test } from 'bun:test';
import type { ExtensionApi, MiddlewareKind } from '@goondan/types';
import { extension, scriptedAgent } from '../../testing/index.ts';
import { beforeNext, oneLayer } from '../../testing/one-layer.ts';

const callThenSay = [{ when: 'go', call: { tool: 'late__say' } }, { say: 'done' }];

describe('the extra kind, model', () => {
  test('P-16 wraps the model call alone: the model receives its changed request, and the step sees its changed reply', async () => {
    const agent = await scriptedAgent({
      systemPrompt: 'Be kind.',
      script: [{ say: 'You said: {{input}}' }],
      extensions: [
        oneLayer('rewrite', 'model', async (ctx) => {
          ctx.messages = [...ctx.messages, { role: 'user', content: 'rewritten' }];
          ctx.params = { ...ctx.params, temperature: 0.5 };
          const reply = await ctx.next();
          return { ...reply, content: [{ type: 'text', text: `${replyText(reply.content)}!` }] };
        }),
      ],
    });
    const turn = await agent.say('hi');
    expect(turn.text).toBe('You said: rewritten!');
    expect(agent.requests[0]?.params).toEqual({ temperature: 0.5 });
    // The conversation keeps the user's words. Only the model received the rewritten words.
    expect((await agent.messages()).map(({ data }) => data.content)).toEqual([
      'hi',
      [{ type: 'text', text: 'You said: rewritten!' }],
    ]);
  });

  test('P-16 follows the same onion: lower priorities are outside, and results come back in reverse', async () => {
    const seen: string[] = [];
    const marking = extension('marking', (api) => {
      for (const [name, priority] of Object.entries({ inner: 5, first: 0, second: 0, outer: -5 })) {
        const mark = async <Result>(ctx: { next(): Promise<Result> }) => {
          seen.push(name);
          const result = await ctx.next();
          seen.push(name);
          return result;
        };
        api.pipeline.register('model', mark, { name, priority });
      }
    });
    await (await scriptedAgent({ extensions: [marking] })).say('hi');
    expect(seen).toEqual(['outer', 'first', 'second', 'inner', 'inner', 'second', 'first', 'outer']);
  });

  test('P-16 does not change the three standard kinds: same layers, same order, same catalog, same results', async () => {
    const run = async (withModel: boolean) => {
      const seen: string[] = [];
      const standard = extension('standard', (api) => {
        api.tools.register({ name: 'late__say', description: 'Says it.' }, () => 'said');
        api.pipeline.register('step', async (ctx) => {
          const result = await ctx.next();
          seen.push(...ctx.toolCatalog.map(({ name }) => name));
          return result;
        });
        for (const kind of ['turn', 'step', 'toolCall'] as const) {
          const mark = async <Result>(ctx: { next(): Promise<Result> }) => {
            seen.push(`${kind} pre`);
            const result = await ctx.next();
            seen.push(`${kind} post`);
            return result;
          };
          // The cast is needed because one function serves all kinds, but each overload of `register` takes one kind.
          api.pipeline.register(kind as 'turn', mark);
        }
      });
      const extra = beforeNext('extra', 'model', (ctx) => {
        ctx.tools = [];
      });
      const extensions = withModel ? [standard, extra] : [standard];
      const agent = await scriptedAgent({ script: callThenSay, extensions });
      const { text, stepCount, result } = await agent.say('go');
      return { seen, text, stepCount, finishReason: result.finishReason };
    };
    expect(await run(true)).toEqual(await run(false));
  });

  test('P-16 allows a fail-over: throw a retryable error, and name another model in the retried step', async () => {
    const failover = oneLayer('failover', 'model', async (ctx) => {
      if (ctx.metadata.failed === true) ctx.modelRef = 'Model/backup';
      try {
        return await ctx.next();
      } catch (error) {
        ctx.metadata.failed = true;
        throw error;
      }
    });
    const agent = await scriptedAgent({
      script: [{ fail: { message: 'down', retryable: true } }],
      models: {
        'Model/backup': { provider: 'scripted', model: 'backup', options: { script: [{ say: 'backup here' }] } },
      },
      extensions: [failover],
    });
    expect((await agent.say('hi')).text).toBe('backup here');
  });

  test('a model that does not exist is a coded error that lists the existing ones', async () => {
    const wrong = beforeNext('wrong', 'model', (ctx) => {
      ctx.modelRef = 'Model/nowhere';
    });
    const { result } = await (await scriptedAgent({ extensions: [wrong] })).say('hi');
    expect(result.error).toMatchObject({ code: 'E_MODEL_UNKNOWN' });
    expect(result.error?.message).toContain('Model/scripted');
  });
});

describe('after register has settled', () => {
  /** Returns the extension's API after its `register` has ended. */
  async function keepApi(asynchronous: boolean) {
    let kept: ExtensionApi | undefined;
    const late = extension('late', (api) => {
      kept = api;
      return asynchronous ? Promise.resolve() : undefined;
    });
    const agent = await scriptedAgent({ script: callThenSay, extensions: [late] });
    if (kept === undefined) throw new Error('register did not run');
    return { api: kept, agent };
  }

  test.each([true, false])('P-18 pipeline.register throws a coded error (asynchronous register: %p)', async (mode) => {
    const { api, agent } = await keepApi(mode);
    for (const kind of ['turn', 'step', 'toolCall', 'model'] satisfies MiddlewareKind[]) {
      expect(() => api.pipeline.register(kind as 'turn', (ctx) => ctx.next())).toThrow(
        expect.objectContaining({
          code: 'E_PIPELINE_CLOSED',
          message: `Extension "late" registered a ${kind} middleware after its register() had finished.`,
        }),
      );
      expect(agent.layers(kind)).toEqual([]);
    }
  });

  test('P-18 pipeline.register works while an asynchronous register runs', async () => {
    const slow = extension('slow', async (api) => {
      await new Promise((resolve) => void setTimeout(resolve, 1));
      api.pipeline.register('turn', (ctx) => ctx.next(), { name: 'after a wait' });
    });
    expect((await scriptedAgent({ extensions: [slow] })).layers('turn')).toEqual(['slow/after a wait']);
  });

  test('P-18 a tool that a step layer registers is offered from the next step on, not in the running one', async () => {
    const growing = extension('late', (api) => {
      api.tools.register({ name: 'late__say', description: 'Says it.' }, () => 'said');
      api.pipeline.register('step', (ctx) => {
        api.tools.register({ name: `late__more-${ctx.stepIndex}`, description: 'Came in a step.' }, () => null);
        return ctx.next();
      });
    });
    const agent = await scriptedAgent({ script: callThenSay, extensions: [growing] });
    await agent.say('go');
    const offered = agent.requests.map(({ tools }) => tools.map(({ name }) => name));
    expect(offered).toEqual([['late__say'], ['late__say', 'late__more-0']]);
  });

  test('P-18 tools.register and events.on work at any time, and a new tool is offered in the next step', async () => {
    const { api, agent } = await keepApi(false);
    const say = () => {
      api.tools.register({ name: 'late__more', description: 'Came in the middle of a turn.' }, () => null);
      return 'said';
    };
    api.tools.register({ name: 'late__say', description: 'Came after register.' }, say);
    const heard: string[] = [];
    api.events.on('turn.completed', ({ turnId }) => heard.push(turnId));
    await agent.say('go');
    expect(heard).toEqual(['turn-event-1']);
    const offered = agent.requests.map(({ tools }) => tools.map(({ name }) => name));
    expect(offered).toEqual([['late__say'], ['late__say', 'late__more']]);
  });
});

function replyText(content: readonly { type: string; text?: string }[]): string {
  return content.map(({ text }) => text ?? '').join('');
}
