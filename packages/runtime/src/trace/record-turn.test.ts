import { describe, expect, spyOn, test } from 'bun:test';
import { createSystemMessage, createUserMessage, type ExtensionRegister } from '@goondan/types';
import { readRepository } from '../../../../test/read-repository.ts';
import type { Model } from '../agent/model/model-port.ts';
import type { ToolDeclaration } from '../agent/tool/load-tool.ts';
import { extension, manualClock, scriptedAgent, type ScriptedAgentOptions } from '../testing/index.ts';
import { type ChainRecord, type LayerRecord, recordTurn } from './record-turn.ts';

const echo: ToolDeclaration = {
  name: 'echo',
  exports: [{ name: 'say', description: 'Says it again.', parallel: true }],
  handlers: { say: (_, input) => ({ said: input.text ?? null }) },
};
const callThenSay = [{ when: 'go', call: { tool: 'echo__say', args: { text: 'hello' } } }, { say: 'done' }];

/** One turn on one extension, watched. */
async function traceOf(
  register: ExtensionRegister,
  options: ScriptedAgentOptions = {},
  input = 'hi',
): Promise<ChainRecord> {
  const agent = await scriptedAgent({ extensions: [extension('tested', register)], ...options });
  const { trace } = await agent.say(input);
  if (trace === undefined) throw new Error('nothing was recorded');
  return trace;
}

/** The chains of a kind, wherever they are. */
function chains(of: ChainRecord, kind: string): ChainRecord[] {
  return [...(of.kind === kind ? [of] : []), ...of.inside.flatMap((inside) => chains(inside, kind))];
}

function firstLayer(of: ChainRecord, kind: string): LayerRecord {
  const layer = chains(of, kind)[0]?.layers[0];
  if (layer === undefined) throw new Error(`no ${kind} layer was recorded`);
  return layer;
}

describe('the recorded tree', () => {
  test('P-17 is nested as the chains are', async () => {
    const trace = await traceOf(() => undefined, { script: callThenSay, tools: [echo] }, 'go');
    const shape = (chain: ChainRecord): unknown => [`${chain.kind} ${chain.label}`, ...chain.inside.map(shape)];
    expect(shape(trace)).toEqual([
      'turn tested',
      ['step 0', ['model Model/scripted'], ['toolCall echo__say']],
      ['step 1', ['model Model/scripted']],
    ]);
  });

  test('P-19 shows the calls of layers inside the chain of the layer that made them', async () => {
    const trace = await traceOf(
      ({ pipeline }) => {
        pipeline.register('turn', async (ctx) => {
          await ctx.model.generate({ messages: [{ role: 'user', content: 'first' }] });
          return ctx.next();
        });
        pipeline.register('step', async (ctx) => {
          await ctx.tools.call('echo__say', {});
          return ctx.next();
        });
      },
      { tools: [echo] },
    );
    expect(trace.inside.map(({ kind }) => kind)).toEqual(['model', 'step']);
    expect(trace.inside[1]?.inside.map(({ kind }) => kind)).toEqual(['toolCall', 'model']);
  });

  test('every chain but the turn’s own is told which one it is inside of', async () => {
    const roots: string[] = [];
    const register: ExtensionRegister = ({ pipeline }) => {
      pipeline.register('turn', async (ctx) => {
        await ctx.model.generate({ messages: [] });
        await ctx.tools.call('echo__say', {});
        return ctx.next();
      });
    };
    const agent = await scriptedAgent({ extensions: [extension('tested', register)], tools: [echo] });
    const inner = recordTurn(manualClock());
    await agent.say('hi', {
      observer: {
        chain(chain, parent) {
          if (parent === undefined) roots.push(chain.kind);
          return inner.chain(chain, parent);
        },
      },
    });
    expect(roots).toEqual(['turn']);
  });

  test('P-13 shows a retried step as two, the first with its error', async () => {
    const script = [{ fail: { message: 'busy', retryable: true, times: 1 } }, { say: 'here' }];
    const trace = await traceOf(() => undefined, { script });
    expect(trace.inside.map(({ label, error }) => [label, error])).toEqual([
      ['0', 'E_MODEL_FAILED: busy'],
      ['1', undefined],
    ]);
  });
});

describe('a layer’s time', () => {
  test('is its own: what is inside it is not counted', async () => {
    const clock = manualClock();
    const slow = (before: number, after: number): ExtensionRegister => {
      return ({ pipeline }) => {
        pipeline.register('step', async (ctx) => {
          await clock.advance(before);
          const result = await ctx.next();
          await clock.advance(after);
          return result;
        });
      };
    };
    const model: Model = {
      async generate() {
        await clock.advance(100);
        return { content: [], finishReason: 'stop', usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 } };
      },
    };
    const agent = await scriptedAgent({
      model,
      clock,
      extensions: [extension('outer', slow(10, 5)), extension('inner', slow(3, 2))],
    });
    const { trace } = await agent.say('hi');
    const [step] = trace?.inside ?? [];
    expect(step?.totalMs).toBe(120);
    expect(step?.layers).toMatchObject([
      { extension: 'outer', ownMs: 15, totalMs: 120, outcome: 'passed' },
      { extension: 'inner', ownMs: 5, totalMs: 105, outcome: 'passed' },
    ]);
  });

  test('is counted to the end when it does not go inwards, or throws', async () => {
    const clock = manualClock();
    const trace = await traceOf(
      ({ pipeline }) => {
        pipeline.register('model', async (ctx) => {
          await clock.advance(7);
          await ctx.next();
          await clock.advance(4);
          throw new Error('boom');
        });
      },
      { clock },
    );
    expect(firstLayer(trace, 'model')).toMatchObject({ ownMs: 11, totalMs: 11, outcome: 'failed', error: 'boom' });
  });
});

describe('what a layer changed', () => {
  test('P-07 in the catalog', async () => {
    const trace = await traceOf(
      ({ pipeline }) => {
        pipeline.register('step', (ctx) => {
          const [tool] = ctx.toolCatalog;
          ctx.toolCatalog = tool === undefined ? [] : [{ ...tool, name: 'other__say', description: 'New.' }];
          return ctx.next();
        });
      },
      { tools: [echo] },
    );
    expect(firstLayer(trace, 'step').changed).toEqual([
      { path: 'toolCatalog.echo__say', before: expect.stringContaining('Says it again.') },
      { path: 'toolCatalog.other__say', after: expect.stringContaining('New.') },
    ]);
  });

  test.each([true, false])('P-08 in the arguments (in place: %p)', async (inPlace) => {
    const trace = await traceOf(
      ({ pipeline }) => {
        pipeline.register('toolCall', (ctx) => {
          if (inPlace) Object.assign(ctx.args, { text: 'bye', loud: true });
          else ctx.args = { text: 'bye', loud: true };
          return ctx.next();
        });
      },
      { script: callThenSay, tools: [echo] },
      'go',
    );
    expect(firstLayer(trace, 'toolCall').changed).toEqual([
      { path: 'args.text', before: 'hello', after: 'bye' },
      { path: 'args.loud', after: 'true' },
    ]);
  });

  test('P-16 in the model call', async () => {
    const trace = await traceOf(({ pipeline }) => {
      pipeline.register('model', (ctx) => {
        ctx.params = { temperature: 0.5 };
        ctx.messages = [...ctx.messages, { role: 'user', content: 'more' }];
        return ctx.next();
      });
    });
    expect(firstLayer(trace, 'model').changed).toEqual([
      { path: 'params.temperature', after: '0.5' },
      { path: 'messages[1]', after: '{"role":"user","content":"more"}' },
    ]);
  });

  test('P-09 in the result of each kind', async () => {
    const trace = await traceOf(
      ({ pipeline }) => {
        pipeline.register('turn', async (ctx) => ({ ...(await ctx.next()), finishReason: 'max_steps' }));
        pipeline.register('step', async (ctx) => ({ ...(await ctx.next()), metadata: { marked: 1 } }));
        pipeline.register('toolCall', async (ctx) => ({ ...(await ctx.next()), output: { said: '***' } }));
        pipeline.register('model', async (ctx) => {
          const reply = await ctx.next();
          // The very object that came from inside, changed in place.
          reply.finishReason = 'other';
          return reply;
        });
      },
      { script: callThenSay, tools: [echo] },
      'go',
    );
    const changed = (kind: string) => firstLayer(trace, kind).resultChanged;
    expect(changed('turn')).toEqual([{ path: 'finishReason', before: 'text_response', after: 'max_steps' }]);
    expect(changed('step')).toEqual([{ path: 'metadata.marked', after: '1' }]);
    expect(changed('toolCall')).toEqual([{ path: 'output.said', before: 'hello', after: '***' }]);
    expect(changed('model')).toEqual([{ path: 'finishReason', before: 'tool-calls', after: 'other' }]);
  });

  test('P-17 in the conversation, layer by layer: what was ignored is not shown', async () => {
    const agent = await scriptedAgent({
      extensions: [
        extension('first', ({ pipeline }) => {
          pipeline.register('turn', async (ctx) => {
            const message = createSystemMessage('a', {}, { id: 'a' });
            ctx.emitMessageEvent({ type: 'append', message });
            ctx.emitMessageEvent({ type: 'remove', targetId: 'nobody' });
            const result = await ctx.next();
            ctx.emitMessageEvent({ type: 'truncate' });
            return result;
          });
        }),
        extension('second', ({ pipeline }) => {
          pipeline.register('step', (ctx) => {
            ctx.emitMessageEvent({ type: 'replace', targetId: 'a', message: createUserMessage('b', {}, { id: 'b' }) });
            ctx.emitMessageEvent({ type: 'remove', targetId: 'b' });
            return ctx.next();
          });
        }),
      ],
    });
    const { trace } = await agent.say('hi');
    expect(trace?.layers.map(({ emitted }) => emitted)).toEqual([['append system a', 'truncate']]);
    expect(trace?.inside[0]?.layers.map(({ emitted }) => emitted)).toEqual([['replace a', 'remove b']]);
  });

  test('is nothing for a layer that only passes on', async () => {
    const trace = await traceOf(({ pipeline }) => pipeline.register('step', (ctx) => ctx.next()), { tools: [echo] });
    expect(firstLayer(trace, 'step')).toMatchObject({ changed: [], resultChanged: [], emitted: [], emittedMore: 0 });
  });

  test('is a list that ends: past 100 events they are counted', async () => {
    const trace = await traceOf(({ pipeline }) => {
      pipeline.register('turn', (ctx) => {
        for (let count = 0; count < 130; count++) ctx.emitMessageEvent({ type: 'truncate' });
        return ctx.next();
      });
    });
    expect(trace.layers[0]).toMatchObject({ emittedMore: 30 });
    expect(trace.layers[0]?.emitted).toHaveLength(100);
  });
});

describe('how a layer ended', () => {
  const thrown: Record<string, [unknown, string]> = {
    'an error': [new Error('boom'), 'boom'],
    'a coded error': [Object.assign(new Error('boom'), { code: 'E_MINE' }), 'E_MINE: boom'],
    'a text': ['boom', 'E_EXT_MIDDLEWARE: extension "tested" threw "boom"'],
    'an object': [{ reason: 'boom' }, '{"reason":"boom"}'],
    'an object without a prototype': [Object.create(null), '{}'],
  };

  test.each(Object.entries(thrown))('P-12 failed, having thrown %s', async (_, [value, error]) => {
    const trace = await traceOf(({ pipeline }) => pipeline.register('step', () => Promise.reject(value)));
    expect(firstLayer(trace, 'step')).toMatchObject({ outcome: 'failed', error });
    expect(chains(trace, 'step')[0]?.error).toBe(error);
  });

  test('P-12 skipped, before or after next()', async () => {
    const trace = await traceOf(({ pipeline }) => {
      pipeline.register('step', () => Promise.reject(new Error('before')), { onError: 'skip' });
      pipeline.register('step', (ctx) => ctx.next().then(() => Promise.reject(new Error('after'))), {
        onError: 'skip',
      });
    });
    const [step] = chains(trace, 'step');
    expect(step?.layers.map(({ outcome, error }) => [outcome, error])).toEqual([
      ['skipped', 'before'],
      ['skipped', 'after'],
    ]);
    expect(step).not.toHaveProperty('error');
  });

  test('P-11 short-circuited, also when it may', async () => {
    const trace = await traceOf(({ pipeline }) => {
      pipeline.register('turn', async ({ turnId }) => ({ turnId, finishReason: 'text_response' }), {
        mayShortCircuit: true,
      });
    });
    expect(trace.layers).toMatchObject([{ outcome: 'short_circuit', resultChanged: [] }]);
    expect(trace.inside).toEqual([]);
  });
});

describe('when nobody watches', () => {
  test('nothing is looked at', async () => {
    const clone = spyOn(globalThis, 'structuredClone');
    const agent = await scriptedAgent({
      tools: [echo],
      extensions: [extension('tested', ({ pipeline }) => pipeline.register('step', (ctx) => ctx.next()))],
    });
    // A look at a step's catalog clones each of its tools.
    const looks = () => clone.mock.calls.filter(([value]) => Object.hasOwn(Object(value), 'description')).length;
    await agent.say('hi', { observer: undefined });
    expect(looks()).toBe(0);
    await agent.say('hi');
    expect(looks()).toBeGreaterThan(0);
    clone.mockRestore();
  });

  test('nothing of this folder runs: the agent knows its types only, and the ids of spans', () => {
    const imports = readRepository('packages/runtime/src/agent/**/*.ts')
      .filter(({ path }) => !path.endsWith('.test.ts'))
      .flatMap(({ path, text }) =>
        (text.match(/import [^;]*\/trace\/[^;]*;/g) ?? []).map((line) => `${path}: ${line}`),
      );
    expect(imports.length).toBeGreaterThan(0);
    const isFree = (line: string) => line.includes('import type ') || line.includes('/trace/span-id.ts');
    expect(imports.filter((line) => !isFree(line))).toEqual([]);
  });
});
