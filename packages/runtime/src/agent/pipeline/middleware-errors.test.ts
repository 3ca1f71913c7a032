/** P-12: tests what an exception in a layer does to the chain, the turn and the listeners, with a whole agent. */
import { describe, expect, test } from 'bun:test';
import type { Message, MiddlewareKind, PipelineRegistry } from '@goondan/types';
import { extension, scriptedAgent } from '../../testing/index.ts';
import { beforeNext } from '../../testing/one-layer.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';
import { attachExtension, toTurnError } from './turn-error.ts';

const kinds: readonly MiddlewareKind[] = ['turn', 'step', 'toolCall', 'model'];
const tool: ToolDeclaration = {
  name: 'echo',
  exports: [{ name: 'say', description: '' }],
  handlers: { say: () => 'said' },
};
const callThenSay = [{ when: 'go', call: { tool: 'echo__say' } }, { say: 'done' }];

type Run = <Result>(ctx: { next(): Promise<Result> }) => Promise<Result>;

/** Creates an extension with one layer of any kind. Its function is the same for all four kinds. */
const layered = (name: string, kind: MiddlewareKind, run: Run) =>
  // The cast is needed because one function serves all four kinds, but each overload of `register` takes one kind.
  extension(name, ({ pipeline }: { pipeline: PipelineRegistry }) => pipeline.register(kind as 'turn', run));

/** Runs a turn with two watching layers around a layer that throws, before or after `next()`. */
async function unwind(kind: MiddlewareKind, thrown: unknown, when: 'before' | 'after') {
  const seen: string[] = [];
  const caught: unknown[] = [];
  const watching = (name: string) =>
    layered(name, kind, async (ctx) => {
      try {
        return await ctx.next();
      } catch (error) {
        seen.push(`${name} catch`);
        caught.push(error);
        throw error;
      } finally {
        seen.push(`${name} finally`);
      }
    });
  const throwing = layered('thrower', kind, async (ctx) => {
    if (when === 'after') await ctx.next();
    throw thrown;
  });
  const agent = await scriptedAgent({
    script: callThenSay,
    tools: [tool],
    extensions: [watching('outer'), watching('inner'), throwing],
  });
  const turn = await agent.say(kind === 'toolCall' ? 'go' : 'hi');
  return { agent, turn, seen, caught };
}

test.each<[MiddlewareKind, field: string, nearest: string]>([
  ['turn', 'finishReasn', 'a turn result; the nearest field is "finishReason"'],
  ['step', 'shouldContinue', 'a step result; the nearest field is "hasToolCalls"'],
  ['toolCall', 'result', 'a toolCall result; the nearest field is "output"'],
  ['model', 'text', 'a model result; the nearest field is "content"'],
])(
  'C-08 an unknown field in a %s result is dropped; one warning names the layer and the nearest field',
  async (kind, field, nearest) => {
    const seen: object[] = [];
    const outer = layered('outer', kind, async (ctx) => {
      const result = await ctx.next();
      seen.push(result as object);
      return result;
    });
    const dropped = 'a value nobody reads';
    const adding = (name: string) => layered(name, kind, async (ctx) => ({ ...(await ctx.next()), [field]: dropped }));
    const extensions = [outer, adding('newer'), adding('older')];
    const agent = await scriptedAgent({ script: callThenSay, tools: [tool], extensions });
    for (const turn of [await agent.say('go'), await agent.say('go')]) {
      expect(turn.result).toMatchObject({ finishReason: 'text_response' });
      expect(turn.text).toBe('done');
      expect(JSON.stringify(turn.trace)).not.toContain(dropped);
    }
    expect(seen.length).toBeGreaterThan(1);
    for (const result of seen) expect(result).not.toHaveProperty(field);
    const warning = (name: string) => ({
      level: 'warn',
      event: 'middleware.unknown_field',
      extension: name,
      message:
        `The ${kind} layer "${kind}" of extension "${name}" returned an unknown field, which was dropped: ` +
        `"${field}" is not a field of ${nearest}.`,
    });
    expect(agent.logs).toMatchObject([warning('older'), warning('newer')]);
  },
);

test.each<[how: string, change: (messages: Message[]) => unknown]>([
  ['adds metadata', ([input]) => Object.assign(input?.metadata ?? {}, { pinned: true })],
  ['assigns a field', ([input]) => Object.assign(input ?? {}, { metadata: {} })],
  ['deletes a field', ([input]) => delete (input as { data?: unknown }).data],
  ['empties the list', (messages) => (messages.length = 0)],
])('a layer that changes a message in place gets an error that says `replace`: %s', async (_how, change) => {
  const written = beforeNext('pinning', 'turn', (ctx) => change(ctx.conversationState.nextMessages));
  const agent = await scriptedAgent({ extensions: [written] });
  const { result } = await agent.say('hi');
  expect(result.error).toMatchObject({
    extension: 'pinning',
    suggestion: expect.stringContaining('emit a `replace` event'),
  });
});

test('a layer that assigns a readonly field gets an error that names the field, and no advice about messages', async () => {
  const written = beforeNext('renaming', 'step', (ctx) => Object.assign(ctx, { turnId: 'mine' }));
  const agent = await scriptedAgent({ extensions: [written] });
  const { result } = await agent.say('hi');
  expect(result.error).toEqual({
    code: 'E_EXT_MIDDLEWARE',
    message: 'ctx.turnId is readonly: a layer cannot assign it.',
    extension: 'renaming',
  });
});

test('a layer that writes to ctx.runtime gets advice that begins with ctx.runtime', async () => {
  const written = beforeNext('renaming', 'turn', (ctx) => Object.assign(ctx.runtime.agent, { name: 'mine' }));
  const agent = await scriptedAgent({ extensions: [written] });
  const { result } = await agent.say('hi');
  expect(result.error?.suggestion).toStartWith('`ctx.runtime` and the messages of the conversation are frozen.');
});

test('an error keeps the suggestion of a TypeError that has one, and adds none to other errors', () => {
  const readonly = new TypeError('Attempted to assign to readonly property.');
  expect(toTurnError(readonly).suggestion).toBeUndefined();
  const mine = Object.assign(new TypeError(readonly.message), { suggestion: 'Mine.' });
  expect(toTurnError(attachExtension(mine, 'x')).suggestion).toBe('Mine.');
  expect(toTurnError(attachExtension(new TypeError('x is not a function'), 'x')).suggestion).toBeUndefined();
});

describe('an exception in a layer', () => {
  const cases = kinds.flatMap((kind) => (['before', 'after'] as const).map((when) => [kind, when] as const));

  test.each(cases)(
    'P-12 kind %s, %s next(): unwinds in order, is not wrapped, and carries the extension’s name',
    async (kind, when) => {
      const boom = Object.assign(new Error('boom'), { retryable: kind === 'turn', details: { deep: true } });
      const { turn, seen, caught } = await unwind(kind, boom, when);
      expect(seen.slice(0, 4)).toEqual(['inner catch', 'inner finally', 'outer catch', 'outer finally']);
      expect(caught[0]).toBe(boom);
      expect(caught[1]).toBe(boom);
      expect(boom).toHaveProperty('extensionName', 'thrower');
      if (kind === 'toolCall') {
        expect(turn.result.finishReason).toBe('text_response');
        return;
      }
      expect(turn.result).toEqual({
        turnId: expect.any(String),
        finishReason: 'error',
        error: { message: 'boom', code: 'E_EXT_MIDDLEWARE', extension: 'thrower' },
      });
    },
  );

  test('P-12 in a toolCall chain becomes that call’s error result; the turn continues', async () => {
    const { agent, turn } = await unwind('toolCall', new Error('refused'), 'before');
    expect(turn).toMatchObject({ text: 'done', stepCount: 2 });
    expect(agent.requests[1]?.messages.at(-1)).toEqual({
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId: 'call_1',
          toolName: 'echo__say',
          output: {
            type: 'error-json',
            value: { name: 'Error', message: 'refused', code: 'E_EXT_MIDDLEWARE' },
          },
        },
      ],
    });
    const failure = agent.told.find(({ name }) => name === 'tool.failed');
    expect(failure?.payload).toMatchObject({ error: { extension: 'thrower', code: 'E_EXT_MIDDLEWARE' } });
    expect(agent.told.some(({ name }) => name === 'tool.completed')).toBe(false);
  });
});
