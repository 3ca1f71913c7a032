import { describe, expect, test } from 'bun:test';
import type { ExtensionRegister, StepMiddlewareContext, ToolCatalogItem } from '@goondan/types';
import { extension, scriptedAgent } from '../../testing/index.ts';
import type { ToolDeclaration } from './load-tool.ts';

const weather: ToolDeclaration = {
  name: 'weather',
  exports: [{ name: 'get', description: 'The weather.', parameters: { type: 'object', properties: {} } }],
  handlers: { get: () => 'sunny' },
};
const script = [{ when: 'weather', call: { tool: 'weather__get' } }, { say: 'done' }];

const inEveryStep =
  (change: (ctx: StepMiddlewareContext) => void): ExtensionRegister =>
  ({ pipeline }) =>
    pipeline.register('step', (ctx) => {
      change(ctx);
      return ctx.next();
    });

describe("a step's catalog", () => {
  test('C-13 an item has name, description, parameters and annotations', async () => {
    const agent = await scriptedAgent({ tools: [weather], script });
    await agent.say('hello');
    expect(agent.requests[0]?.tools).toEqual([
      {
        name: 'weather__get',
        description: 'The weather.',
        parameters: { type: 'object', properties: {} },
        annotations: { effects: 'external', idempotent: false },
      },
    ]);
  });

  test('C-13 belongs to that step: changes a layer makes to an item are gone in the next step', async () => {
    const descriptions: (string | undefined)[] = [];
    const shout = inEveryStep((ctx) => {
      const [item] = ctx.toolCatalog;
      descriptions.push(item?.description);
      if (ctx.stepIndex > 0 || item?.parameters === undefined) return;
      item.description = 'THE WEATHER!';
      item.parameters.properties = { loud: { type: 'boolean' } };
    });
    const agent = await scriptedAgent({ tools: [weather], script, extensions: [extension('shouter', shout)] });
    await agent.say('weather?');
    expect(agent.requests[0]?.tools[0]).toMatchObject({
      description: 'THE WEATHER!',
      parameters: { properties: { loud: { type: 'boolean' } } },
    });
    expect(descriptions).toEqual(['The weather.', 'The weather.']);
    expect(agent.requests[1]?.tools[0]).toMatchObject({ parameters: { properties: {} } });
  });

  test('C-13 an item may leave fields undefined, also where a model layer reads it', async () => {
    const names: string[] = [];
    const agent = await scriptedAgent({
      extensions: [
        extension('adder', ({ pipeline }) => {
          pipeline.register('step', (ctx) => {
            // Authors may pass undefined fields; the types do not prevent it.
            const item = {
              name: 'ghost__say',
              description: 'Boo.',
              parameters: undefined,
            } as unknown as ToolCatalogItem;
            ctx.toolCatalog.push(item);
            return ctx.next();
          });
          pipeline.register('model', (ctx) => {
            names.push(...ctx.tools.map(({ name }) => name));
            return ctx.next();
          });
        }),
      ],
    });
    expect((await agent.say('hello')).text).toBe('You said: hello');
    expect(names).toEqual(['ghost__say']);
  });

  test.each<[string, unknown]>([
    ['it has no name', { description: 'Nameless.' }],
    ['the value is null, not an object', null],
    ['the value is a string, not an object', 'weather__get'],
    ['parameters.parse is a function, which JSON cannot represent', { name: 'a__b', parameters: { parse: () => 1 } }],
  ])('C-13 an item with the problem "%s" ends the turn with a code', async (problem, item) => {
    const add = inEveryStep((ctx) => ctx.toolCatalog.push(item as ToolCatalogItem));
    const agent = await scriptedAgent({ extensions: [extension('adder', add)] });
    const { result } = await agent.say('hello');
    expect(result.error).toMatchObject({
      code: 'E_TOOL_NAME',
      message: `A layer put something into ctx.toolCatalog that is not a tool: ${problem}.`,
    });
    expect(agent.requests).toEqual([]);
  });

  test('X-09 a tool registered while a turn runs is offered from the next step on', async () => {
    const offered: string[][] = [];
    const agent = await scriptedAgent({
      tools: [weather],
      script: [
        { when: 'weather', call: { tool: 'weather__get' } },
        { afterTool: 'weather__get', call: { tool: 'late__add' } },
        { afterTool: 'late__add', say: '{{result}}' },
      ],
      extensions: [
        extension('late', ({ pipeline, tools }) => {
          pipeline.register('step', async (ctx) => {
            offered.push(ctx.toolCatalog.map(({ name }) => name));
            const result = await ctx.next();
            if (ctx.stepIndex === 0) tools.register({ name: 'late__add', description: 'Late.' }, () => 'better late');
            return result;
          });
        }),
      ],
    });
    expect((await agent.say('weather?')).text).toBe('better late');
    const both = ['weather__get', 'late__add'];
    expect(offered).toEqual([['weather__get'], both, both]);
  });
});
