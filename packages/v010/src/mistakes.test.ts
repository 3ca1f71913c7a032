// Mistakes of old extensions: the error names the extension, the place in its file and the right way.
import { describe, expect, test } from 'bun:test';
import { scriptedAgent } from '@goondan/runtime/testing';
import { attribute } from './compat-error.ts';
import { toMessage, toNewEvent } from './message-events.ts';
import type { OldExtensionApi } from './old-types.ts';
import { oldBundle, startWith } from './testing/old-agent.ts';
import { oldExtension } from './testing/old-extension.ts';
import { v010 } from './v010.ts';

const event = `{ type: 'llm_message', message: { id: 'same', role: 'user', content: 'Note' } }`;

describe('a message event that is refused', () => {
  test.each(['turn.pre', 'step.pre', 'turn.post'])(
    'L-04 fails the turn at %s and names the extension, even if the function does not await it',
    async (point) => {
      using bundle = oldBundle({
        first: `api.pipelines.mutate('turn.pre', (ctx) => ctx);`,
        old: `api.pipelines.mutate('${point}', (ctx) => { ctx.emitMessageEvent(${event}); return ctx; });`,
      });
      const agent = await scriptedAgent({ extensions: bundle.extensions });
      await agent.say('one');
      const { error } = (await agent.say('two')).result;
      expect(error).toMatchObject({ code: 'E_MESSAGE_DUPLICATE', extension: 'old' });
    },
  );
});

describe('a context block', () => {
  const withBlock = (block: string) =>
    startWith(`api.pipelines.mutate('step.blocks', (ctx) => ({ ...ctx, blocks: [...ctx.blocks, ${block}] }));`);

  test.each(['text', 'content'])('L-04 with only the field %s is an error that shows the shape', async (field) => {
    using tested = await withBlock(`{ type: 'note', ${field}: 'X' }`);
    expect((await tested.agent.say('hi')).result.error).toMatchObject({
      code: 'E_MIDDLEWARE_RESULT',
      extension: 'old',
      message: expect.stringContaining(`context block "note" has neither data nor items, but ${field}`),
      suggestion: expect.stringContaining('{ type, data, items, priority }'),
    });
  });

  test.each([
    [`{ type: 'note', data: 'X', title: 'T' }`, 'fields of a context block are left out: title'],
    [`{ type: 'note' }`, 'a context block has neither data nor items'],
  ])('L-04 %s is a warning that is logged once', async (block, warning) => {
    using tested = await withBlock(block);
    await tested.agent.say('hi');
    await tested.agent.say('hi');
    expect(tested.agent.logs).toMatchObject([
      { level: 'warn', message: expect.stringContaining(`Extension "old", step.blocks: ${warning}`) },
    ]);
  });

  test('L-04 with an empty list of items is left out without a warning', async () => {
    using tested = await withBlock(`{ type: 'note', items: [] }`);
    await tested.agent.say('hi');
    expect(tested.agent.logs).toEqual([]);
  });
});

describe('a wrong result', () => {
  const mutating = (point: string, body: string) => `\napi.pipelines.mutate('${point}', (ctx) => { ${body} });`;

  test.each([
    ['no context', mutating('turn.pre', ''), 'Return the context'],
    [
      'a message event',
      mutating('turn.pre', `ctx.turn.messageState.events.push({ type: 'say' }); return ctx;`),
      'A message event is',
    ],
    [
      'the parameters of a tool',
      mutating('step.tools', `return { ...ctx, toolCatalog: [{ name: 'x', parameters: [] }] };`),
      'A tool is',
    ],
    ['a context block', mutating('step.blocks', `return { ...ctx, blocks: [{}] };`), 'A context block is'],
    ['a message of llmInput', mutating('step.llmInput', `return { ...ctx, llmInput: [{}] };`), 'A message is'],
    [
      'no LlmResult',
      `\napi.pipelines.wrap('step.llmCall', async (ctx, next) => { await next(ctx); });`,
      'Return the result of `next',
    ],
  ])('L-04 is an error with advice and the place of the registration: %s', async (_what, code, advice) => {
    using tested = await startWith(code);
    expect((await tested.agent.say('hi')).result.error).toMatchObject({
      code: 'E_MIDDLEWARE_RESULT',
      suggestion: expect.stringContaining(advice),
      place: { file: 'old.js', line: expect.any(Number) },
    });
  });
});

test('L-04 an error keeps the name of the extension that threw it', () => {
  expect(attribute(attribute(new Error('x'), 'inner'), 'outer')).toHaveProperty('extensionName', 'inner');
});

test('L-04 an event without a message is an error, and a message with an empty id gets a new id', () => {
  const empty = { type: 'llm_message', message: null };
  expect(() => toNewEvent(empty, 'old', 'turn.pre')).toThrow('a message is not an object');
  expect(toMessage({ id: '', role: 'user', content: 'x' }, 'old').id).not.toBe('');
});

test('L-04 an extension that is adapted twice is an error that says which one to remove', async () => {
  const twice = oldExtension('twice', v010(() => undefined) as never);
  expect(scriptedAgent({ extensions: [twice] })).rejects.toMatchObject({
    code: 'E_EXT_COMPAT',
    message: 'Extension "twice" is adapted twice.',
    suggestion: expect.stringContaining('Remove `compat: v010`'),
  });
});

test('L-04 the types of setState fit the state of the extension', () => {
  v010((api) => api.setState({ count: 1 }));
  v010((api: OldExtensionApi<{ count?: number }>) => api.setState({ count: (api.getState().count ?? 0) + 1 }));
  // @ts-expect-error: count is a number.
  v010((api: OldExtensionApi<{ count?: number }>) => api.setState({ count: 'one' }));
  expect(v010).toBeFunction();
});
