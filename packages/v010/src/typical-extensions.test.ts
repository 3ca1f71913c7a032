// Extensions as people wrote them for v0.10, in a real agent.
import { describe, expect, test } from 'bun:test';
import type { ToolHandler } from '@goondan/types';
import { extension, scriptedAgent } from '@goondan/runtime/testing';
import { oldBundle, startWith } from './testing/old-agent.ts';

const look: ToolHandler = (_ctx, args) => ({ saw: args });
const shop = {
  name: 'shop',
  exports: [
    { name: 'look', description: 'Looks.' },
    { name: 'wipe', description: 'Wipes.' },
  ],
  handlers: { look, wipe: () => 'gone' },
};
const script = [
  { when: 'look', call: { tool: 'shop__look', args: { at: 'door' } } },
  { when: 'wipe', call: { tool: 'shop__wipe' } },
  { afterTool: 'shop__look', say: 'saw {{result.saw.at}}{{result.text}}{{result.error.message}}' },
  { afterTool: 'shop__wipe', say: 'wiped {{result.error.code}}' },
  { say: 'You said: {{input}}' },
];

const start = (code: string) => startWith(code, { tools: [shop], script });

const textsOf = (messages: readonly { readonly content: unknown }[]) => JSON.stringify(messages);

describe('an old extension', () => {
  test('L-04 logs calls of the LLM and of tools, with their results', async () => {
    using tested = await start(`
      api.pipelines.wrap('step.llmCall', async (ctx, next) => {
        const result = await next(ctx);
        note(['llm', ctx.step.index, result.toolCalls.map(({ name, args }) => name + JSON.stringify(args)),
          result.meta.usage.totalTokens >= 0, result.meta.finishReason, result.message.role].join(' '));
        return result;
      });
      api.pipelines.wrap('toolCall.exec', async (ctx, next) => {
        const { id, name, args } = ctx.toolCall;
        const result = await next(ctx);
        note(['tool', name, args.at, result.status, result.toolName, result.toolCallId === id, result.output.saw.at].join(' '));
        return result;
      });
      api.pipelines.mutate('step.post', (ctx) => {
        note(['step.post', ctx.step.index, ctx.step.llmResult.toolCalls.length, ctx.turn.toolResults.length].join(' '));
        return ctx;
      });
      api.pipelines.mutate('turn.post', (ctx) => {
        note(['turn.post', ctx.turn.input, ctx.turn.toolResults.map(({ toolName }) => toolName)].join(' '));
        return ctx;
      });`);
    expect((await tested.agent.say('look')).text).toBe('saw door');
    expect(tested.notes).toEqual([
      'llm 0 shop__look{"at":"door"} true tool-calls assistant',
      'tool shop__look door ok shop__look true door',
      'step.post 0 1 1',
      'llm 1  true stop assistant',
      'step.post 1 0 1',
      'turn.post look shop__look',
    ]);
  });

  test('L-04 hides tools from the LLM, which then cannot call them', async () => {
    using tested = await start(`
      api.pipelines.mutate('step.tools', async (ctx) => {
        ctx.toolCatalog = ctx.toolCatalog.filter((tool) => tool.name !== 'shop__wipe');
        return ctx;
      });`);
    expect((await tested.agent.say('wipe')).text).toBe('wiped E_TOOL_NOT_OFFERED');
    expect(tested.agent.requests[0]?.tools.map(({ name }) => name)).toEqual(['shop__look']);
  });

  test('L-04 adds context blocks, which the LLM reads in this step only', async () => {
    using tested = await start(`
      api.pipelines.mutate('step.blocks', (ctx) => ({
        ...ctx,
        blocks: [
          ...ctx.blocks,
          { type: 'custom.second', data: 'step ' + ctx.step.index, priority: 1 },
          { type: 'custom.first', items: ['one', { two: 2 }], priority: 10 },
        ],
      }));`);
    await tested.agent.say('look');
    const texts = tested.agent.requests.map(({ messages }) => textsOf(messages));
    expect(texts.map((text) => text.includes('step 0'))).toEqual([true, false]);
    expect(texts.map((text) => text.includes('step 1'))).toEqual([false, true]);
    // A block with a higher priority is shown first.
    expect(texts.map((text) => text.indexOf('one') < text.indexOf('step '))).toEqual([true, true]);
    expect(texts.every((text) => text.includes('one'))).toBe(true);
    expect(JSON.stringify(await tested.agent.messages())).not.toContain('step 0');
  });

  test('L-04 changes the arguments of a call, its result, or answers it without running the tool', async () => {
    using tested = await start(`
      api.pipelines.mutate('toolCall.pre', (ctx) => {
        ctx.toolCall.args = { ...ctx.toolCall.args, at: 'window' };
        return ctx;
      });`);
    expect((await tested.agent.say('look')).text).toBe('saw window');

    using after = await start(`
      api.pipelines.mutate('toolCall.post', (ctx) => ({
        ...ctx,
        toolResult: { ...ctx.toolResult, output: { saw: { at: 'nothing' } } },
      }));`);
    expect((await after.agent.say('look')).text).toBe('saw nothing');

    using instead = await start(`
      api.pipelines.wrap('toolCall.exec', async (ctx) => ({
        toolCallId: ctx.toolCall.id, toolName: ctx.toolCall.name, status: 'error', output: null,
        error: { name: 'Error', message: 'closed today' },
      }));`);
    expect((await instead.agent.say('look')).text).toBe('saw closed today');
  });

  test('L-04 sees the messages of the turn, and compacts them with message events at turn.post', async () => {
    using tested = await start(`
      api.pipelines.mutate('turn.pre', (ctx) => (note(['pre', ctx.turn.messageState.baseMessages.length].join(' ')), ctx));
      api.pipelines.mutate('turn.post', (ctx) => {
        note(['post', ctx.baseMessages.length, ctx.messageEvents.map(({ type }) => type)].join(' '));
        if (ctx.baseMessages.length < 2) return ctx;
        const seq = ctx.messageEvents.length;
        return {
          ...ctx,
          messageEvents: [
            ...ctx.messageEvents,
            ...ctx.baseMessages.map(({ id }, index) => ({ type: 'remove', seq: seq + index, targetId: id })),
            { type: 'system_message', seq: seq + 9, message: { role: 'system', content: 'They said hello before.' } },
          ],
        };
      });`);
    await tested.agent.say('hello');
    await tested.agent.say('again');
    expect(tested.notes.filter((note) => note.startsWith('pre'))).toEqual(['pre 0', 'pre 2']);
    expect((await tested.agent.messages()).map(({ data }) => [data.role, textsOf([data])])).toEqual([
      ['user', expect.stringContaining('again')],
      ['assistant', expect.stringContaining('You said: again')],
      ['system', expect.stringContaining('They said hello before.')],
    ]);
  });

  test('L-04 sees the tool calls of other extensions, also those outside of a step', async () => {
    using bundle = oldBundle({
      old: `api.pipelines.wrap('toolCall.exec', (ctx, next) => {
        note([ctx.toolCall.name, ctx.step.index, ctx.toolCatalog.length, ctx.blocks.length].join(' '));
        return next(ctx);
      });`,
    });
    const calling = extension('calling', ({ pipeline }) => {
      pipeline.register('turn', async (ctx) => {
        const result = await ctx.tools.call('shop__look', { at: 'door' });
        expect(result.status).toBe('ok');
        return ctx.next();
      });
    });
    for (const extensions of [
      [calling, ...bundle.extensions],
      [...bundle.extensions, calling],
    ]) {
      const agent = await scriptedAgent({ tools: [shop], script, extensions });
      expect((await agent.say('look')).text).toBe('saw door');
    }
    const inEach = ['shop__look 0 0 0', 'shop__look 0 2 0'];
    expect(bundle.notes).toEqual([...inEach, ...inEach]);
  });

  test('L-04 that returns nothing, or uses the new API, reads what to do', async () => {
    using silent = await start(`api.pipelines.mutate('turn.pre', (ctx) => void ctx);`);
    const { result } = await silent.agent.say('hi');
    expect(result.error).toMatchObject({ code: 'E_MIDDLEWARE_RESULT', extension: 'old' });
    expect(result.error?.suggestion).toContain('Return the context');
    const mixed = start(`api.pipeline.register('turn', (ctx) => ctx.next());`);
    expect(await mixed.catch((error: unknown) => error)).toMatchObject({
      code: 'E_EXT_COMPAT',
      message: expect.stringContaining('api.pipeline, which v0.10 did not have'),
    });
  });
});
