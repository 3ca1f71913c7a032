import { describe, expect, spyOn, test } from 'bun:test';
import { createSystemMessage, createUserMessage, type ExtensionRegister } from '@goondan/types';
import { readRepository } from '../../../../test/read-repository.ts';
import type { Model } from '../agent/model/model-port.ts';
import type { ToolDeclaration } from '../agent/tool/load-tool.ts';
import { extension, manualClock, scriptedAgent, type ScriptedAgentOptions } from '../testing/index.ts';
import type { ChainRecord, LayerRecord } from './turn-trace.ts';
import { recordTurn } from './record-turn.ts';

const echo: ToolDeclaration = {
  name: 'echo',
  exports: [{ name: 'say', description: 'Says it again.', parallel: true }],
  handlers: { say: (_, input) => ({ said: input.text ?? null }) },
};
const callThenSay = [{ when: 'go', call: { tool: 'echo__say', args: { text: 'hello' } } }, { say: 'done' }];

/** Runs one turn with one extension, and returns its trace. */
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

/** Runs a turn in which the model calls the tool once. */
function traceOfCall(register: ExtensionRegister, tools: readonly ToolDeclaration[] = [echo]): Promise<ChainRecord> {
  return traceOf(register, { script: callThenSay, tools }, 'go');
}

/** Lists all chains of a kind in the tree. */
function chains(of: ChainRecord, kind: string): ChainRecord[] {
  return [...(of.kind === kind ? [of] : []), ...of.inside.flatMap((inside) => chains(inside, kind))];
}

function firstLayer(of: ChainRecord, kind: string): LayerRecord {
  const layer = chains(of, kind)[0]?.layers[0];
  if (layer === undefined) throw new Error(`no ${kind} layer was recorded`);
  return layer;
}

describe('the recorded tree', () => {
  test('P-17 is nested like the chains', async () => {
    const trace = await traceOfCall(() => undefined);
    const shape = (chain: ChainRecord): unknown => [`${chain.kind} ${chain.label}`, ...chain.inside.map(shape)];
    expect(shape(trace)).toEqual([
      'turn tested',
      ['step 0', ['model Model/scripted'], ['toolCall echo__say']],
      ['step 1', ['model Model/scripted']],
    ]);
  });

  test('P-19 shows the calls of a layer inside the chain of that layer', async () => {
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

  test('every chain except the turn’s own names its parent', async () => {
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

  test('P-13 shows a retried step as two steps, the first with its error', async () => {
    const script = [{ fail: { message: 'busy', retryable: true, times: 1 } }, { say: 'here' }];
    const trace = await traceOf(() => undefined, { script });
    expect(trace.inside.map(({ label, error }) => [label, error])).toEqual([
      ['0', 'E_MODEL_FAILED: busy'],
      ['1', undefined],
    ]);
  });
});

describe('a layer’s time', () => {
  test('is its own, without the inside', async () => {
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

  test('is counted to the end when it does not call next(), or throws', async () => {
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

describe('the changes of a layer', () => {
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
    const trace = await traceOfCall(({ pipeline }) =>
      pipeline.register('toolCall', (ctx) => {
        if (inPlace) Object.assign(ctx.args, { text: 'bye', loud: true });
        else ctx.args = { text: 'bye', loud: true };
        return ctx.next();
      }),
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

  test('in another field of the model call do not count as changes of the messages', async () => {
    const trace = await traceOfCall(({ pipeline }) =>
      pipeline.register('model', (ctx) => {
        ctx.params = { ...ctx.params, temperature: 1 };
        return ctx.next();
      }),
    );
    expect(firstLayer(trace, 'model').changed).toEqual([{ path: 'params.temperature', after: '1' }]);
  });

  test('P-09 in the result of each kind', async () => {
    const trace = await traceOfCall(({ pipeline }) => {
      pipeline.register('turn', async (ctx) => ({ ...(await ctx.next()), finishReason: 'max_steps' }));
      pipeline.register('step', async (ctx) => ({ ...(await ctx.next()), metadata: { marked: 1 } }));
      pipeline.register('toolCall', async (ctx) => ({ ...(await ctx.next()), output: { said: '***' } }));
      pipeline.register('model', async (ctx) => {
        const reply = await ctx.next();
        // This is the same object that came from inside; it is changed in place.
        reply.finishReason = 'other';
        return reply;
      });
    });
    const changed = (kind: string) => firstLayer(trace, kind).resultChanged;
    expect(changed('turn')).toEqual([{ path: 'finishReason', before: 'text_response', after: 'max_steps' }]);
    expect(changed('step')).toEqual([
      { path: 'metadata.finishReason', before: 'other' },
      { path: 'metadata.marked', after: '1' },
    ]);
    expect(changed('toolCall')).toEqual([{ path: 'output.said', before: 'hello', after: '***' }]);
    expect(changed('model')).toEqual([{ path: 'finishReason', before: 'tool-calls', after: 'other' }]);
  });

  test('in the conversation, layer by layer; ignored events are not shown', async () => {
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

  test('M-04 show the input that comes back after a truncate', async () => {
    const trace = await traceOf(({ pipeline }) => {
      pipeline.register('turn', (ctx) => {
        ctx.emitMessageEvent({ type: 'truncate' });
        return ctx.next();
      });
    });
    expect(trace.layers[0]?.emitted).toEqual(['truncate', 'append user turn-event-1.input']);
  });

  test('are empty for a layer that only calls next()', async () => {
    const trace = await traceOf(({ pipeline }) => pipeline.register('step', (ctx) => ctx.next()), { tools: [echo] });
    expect(firstLayer(trace, 'step')).toMatchObject({ changed: [], resultChanged: [], emitted: [], emittedMore: 0 });
  });

  test('are limited to 100 events; further ones are counted', async () => {
    const trace = await traceOf(({ pipeline }) => {
      pipeline.register('turn', (ctx) => {
        for (let count = 0; count < 130; count++) {
          ctx.emitMessageEvent({ type: 'append', message: createSystemMessage(String(count)) });
        }
        return ctx.next();
      });
    });
    expect(trace.layers[0]).toMatchObject({ emittedMore: 30 });
    expect(trace.layers[0]?.emitted).toHaveLength(100);
  });
});

describe('the outcome of a layer', () => {
  const thrown: Record<string, [unknown, string]> = {
    'an error': [new Error('boom'), 'boom'],
    'a coded error': [Object.assign(new Error('boom'), { code: 'E_MINE' }), 'E_MINE: boom'],
    'a text': ['boom', 'E_EXT_MIDDLEWARE: extension "tested" threw "boom"'],
    'an object': [{ reason: 'boom' }, '{"reason":"boom"}'],
    'an object without a prototype': [Object.create(null), '{}'],
  };

  test.each(Object.entries(thrown))('P-12 is failed after it threw %s', async (_, [value, error]) => {
    const trace = await traceOf(({ pipeline }) => pipeline.register('step', () => Promise.reject(value)));
    expect(firstLayer(trace, 'step')).toMatchObject({ outcome: 'failed', error });
    expect(chains(trace, 'step')[0]?.error).toBe(error);
    const after = await traceOf(({ pipeline }) =>
      pipeline.register('step', (ctx) => ctx.next().then(() => Promise.reject(value))),
    );
    const isAfter = ({ isBeforeNext, isAfterNext }: LayerRecord) => [isBeforeNext, isAfterNext];
    expect([trace, after].map((each) => isAfter(firstLayer(each, 'step')))).toEqual([
      [true, undefined],
      [undefined, true],
    ]);
  });

  test('is skipped, before or after next()', async () => {
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

  test('P-11 is short-circuited, also when allowed: the whole result is its own', async () => {
    const trace = await traceOf(({ pipeline }) => {
      pipeline.register('turn', async ({ turnId }) => ({ turnId, finishReason: 'text_response' }), {
        mayShortCircuit: true,
      });
    });
    expect(trace.layers).toMatchObject([
      { outcome: 'short_circuit', resultChanged: [{ path: '', after: expect.stringContaining('text_response') }] },
    ]);
    expect(trace.inside).toEqual([]);
  });
});

describe('an unwatched turn', () => {
  test('inspects nothing: the clock is read equally often with 1 and with 20 layers', async () => {
    const readings = async (layers: number, options?: { observer: undefined }) => {
      const clock = manualClock();
      const elapsed = spyOn(clock, 'elapsed');
      const agent = await scriptedAgent({
        clock,
        extensions: [
          extension('tested', ({ pipeline }) => {
            for (let count = 0; count < layers; count++) pipeline.register('step', (ctx) => ctx.next());
          }),
        ],
      });
      elapsed.mockClear();
      await agent.say('hi', options);
      return elapsed.mock.calls.length;
    };
    expect(await readings(20, { observer: undefined })).toBe(await readings(1, { observer: undefined }));
    // The clock is read twice for each layer: on the way to the next layer, and on the way back.
    expect((await readings(20)) - (await readings(1))).toBe(2 * 19);
  });

  test('runs no code of this folder: the code of a turn imports its types only, the ids of spans and the scope of draws', () => {
    const imports = readRepository('packages/runtime/src/agent/**/*.ts')
      // The folders `process` and `replay` are left out, because their code observes the turn.
      .filter(({ path }) => !path.endsWith('.test.ts') && !/\/agent\/(process|replay)\//.test(path))
      .flatMap(({ path, text }) =>
        (text.match(/import [^;]*\/trace\/[^;]*;/g) ?? []).map((line) => `${path}: ${line}`),
      );
    expect(imports.length).toBeGreaterThan(0);
    const isFree = (line: string) => /import type |\/trace\/(span-id|draw-scope)\.ts/.test(line);
    expect(imports.filter((line) => !isFree(line))).toEqual([]);
  });
});

describe('the outcome of a chain', () => {
  test('includes the delay when a step is retried', async () => {
    const script = [{ fail: { message: 'busy', retryable: true, times: 1 } }, { say: 'here' }];
    const trace = await traceOf(() => undefined, { script, policy: { retryBaseMs: 7 } });
    expect(trace.inside.map(({ retryMs }) => retryMs)).toEqual([7, undefined]);
  });

  test('is a tool’s error, a model’s tokens, or the finish reason of the turn', async () => {
    const failing: ToolDeclaration = { ...echo, handlers: { say: () => Promise.reject(new Error('no voice')) } };
    const trace = await traceOfCall(() => undefined, [failing]);
    expect(trace).toMatchObject({ outcome: 'text_response', spanId: expect.stringMatching(/^[0-9a-f]{16}$/) });
    expect(chains(trace, 'toolCall')[0]).toMatchObject({
      outcome: 'error',
      error: 'E_TOOL_FAILED: no voice',
      input: '{"text":"hello"}',
    });
    expect(chains(trace, 'model').map(({ outcome, tokens }) => [outcome, tokens])).toEqual([
      ['tool-calls', { input: expect.any(Number), output: expect.any(Number) }],
      ['stop', { input: expect.any(Number), output: expect.any(Number) }],
    ]);
  });
});

describe('limits', () => {
  test('with 10 000 layers, 5 000 are listed and the rest is counted', async () => {
    const trace = await traceOf(({ pipeline }) => {
      for (let count = 0; count < 2_000; count++) pipeline.register('model', (ctx) => ctx.next());
      pipeline.register('turn', async (ctx) => {
        for (let count = 0; count < 4; count++) await ctx.model.generate({ messages: [] });
        return ctx.next();
      });
    });
    const counts = chains(trace, 'model').map(({ layers, layersMore }) => [layers.length, layersMore]);
    expect(counts).toEqual([
      [2_000, undefined],
      [2_000, undefined],
      [999, 1_001],
      [0, 2_000],
      [0, 2_000],
    ]);
    expect(trace.layers).toHaveLength(1);
  });

  test('with 10 MB in a diff, the beginning is shown and marked as cut', async () => {
    const trace = await traceOfCall(({ pipeline }) => {
      pipeline.register('toolCall', (ctx) => {
        ctx.args = { text: 'x'.repeat(10_000_000), many: Array(100_000).fill(0) };
        return ctx.next();
      });
    });
    const { changed } = firstLayer(trace, 'toolCall');
    expect(changed.map(({ path, before }) => [path, before])).toEqual([
      ['args.text', 'hello'],
      ['args.many', undefined],
    ]);
    expect(changed[0]?.after).toBe(`${'x'.repeat(2_000)}… (10000000 characters)`);
    expect(changed[1]?.after).toHaveLength(2_001);
  });

  test('a layer with more than 50 changes says that there were more', async () => {
    const trace = await traceOf(({ pipeline }) => {
      pipeline.register('model', (ctx) => {
        ctx.params = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`p${index}`, index]));
        return ctx.next();
      });
    });
    expect(firstLayer(trace, 'model')).toMatchObject({ isCut: true });
    expect(firstLayer(trace, 'model').changed).toHaveLength(50);
  });

  test('a value of a layer that cannot be inspected changes only the display', async () => {
    const trace = await traceOfCall(({ pipeline }) => {
      pipeline.register('toolCall', (ctx) => {
        Object.defineProperty(ctx.args, 'trap', { enumerable: true, get: () => fail() });
        return ctx.next();
      });
    });
    expect(firstLayer(trace, 'toolCall')).toMatchObject({ outcome: 'passed', changed: [] });
  });
});

function fail(): never {
  throw new Error('not to be read');
}

describe('the owner of a change', () => {
  test('is a skipped layer for the fields it changed, not the next layer', async () => {
    const trace = await traceOf(({ pipeline }) => {
      pipeline.register(
        'model',
        (ctx) => {
          ctx.params = { temperature: 1 };
          return Promise.reject(new Error('after it'));
        },
        { onError: 'skip' },
      );
      pipeline.register('model', (ctx) => ctx.next());
    });
    expect(chains(trace, 'model')[0]?.layers.map(({ changed }) => changed.length)).toEqual([1, 0]);
  });

  test('P-09 is the inner layer that changed a result in place, not an outer one', async () => {
    const trace = await traceOf(({ pipeline }) => {
      pipeline.register('step', async (ctx) => {
        const result = await ctx.next();
        Object.assign(result.metadata, { outer: 1 });
        return result;
      });
      pipeline.register('step', (ctx) => ctx.next());
      pipeline.register('step', async (ctx) => {
        const result = await ctx.next();
        Object.assign(result.metadata, { inner: 1 });
        return result;
      });
    });
    expect(trace.inside[0]?.layers.map(({ resultChanged }) => resultChanged.map(({ path }) => path))).toEqual([
      ['metadata.outer'],
      [],
      ['metadata.inner'],
    ]);
  });

  test('has one change for a message put first, and none for messages of later steps', async () => {
    const trace = await traceOfCall(({ pipeline }) => {
      pipeline.register('model', (ctx) => {
        ctx.messages = [{ role: 'system', content: 'first' }, ...ctx.messages];
        return ctx.next();
      });
    });
    const added = [{ path: 'messages[0]', after: '{"role":"system","content":"first"}' }];
    expect(chains(trace, 'model').map(({ layers }) => layers[0]?.changed)).toEqual([added, added]);
  });

  test('the messages of events can be read', async () => {
    const trace = await traceOf(({ pipeline }) => {
      pipeline.register('turn', (ctx) => {
        ctx.emitMessageEvent({ type: 'append', message: createSystemMessage('be kind', {}, { id: 'a' }) });
        return ctx.next();
      });
    });
    expect(trace.layers[0]?.messages).toEqual([{ path: 'a', after: 'be kind' }]);
  });
});
