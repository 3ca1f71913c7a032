import { describe, expect, test } from 'bun:test';
import type { ExtensionRegister, StepMiddlewareContext, ToolCatalogItem } from '@goondan/types';
import { extension, scriptedAgent } from '../../testing/index.ts';
import { layerOf } from '../../testing/one-layer.ts';
import type { ToolDeclaration } from './load-tool.ts';
import { toProviderName } from './provider-tool-name.ts';

const weather: ToolDeclaration = {
  name: 'weather',
  exports: [{ name: 'get', description: 'The weather.', parameters: { type: 'object', properties: {} } }],
  handlers: { get: () => 'sunny' },
};
const script = [{ when: 'weather', call: { tool: 'weather__get' } }, { say: 'done' }];

const inEveryStep = (change: (ctx: StepMiddlewareContext) => void): ExtensionRegister =>
  layerOf('step', (ctx) => {
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

  test('P-07 belongs to that step: changes a layer makes to an item are gone in the next step', async () => {
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
    ['its name is empty', { name: '', description: 'Nameless.' }],
    ['the value is null, not an object', null],
    ['the value is a string, not an object', 'weather__get'],
    ['parameters.parse is a function, which JSON cannot represent', { name: 'a__b', parameters: { parse: () => 1 } }],
  ])('C-13 an item with the problem "%s" ends the turn with a code', async (problem, item) => {
    const add = inEveryStep((ctx) => ctx.toolCatalog.push(item as ToolCatalogItem));
    const agent = await scriptedAgent({ extensions: [extension('adder', add)] });
    const { result } = await agent.say('hello');
    expect(result.error).toMatchObject({
      code: 'E_TOOL_NAME',
      extension: 'adder',
      message: `Extension "adder" put something into the tool catalog that is not a tool: ${problem}.`,
    });
    expect(agent.requests).toEqual([]);
  });

  test('an item with an unknown field ends the turn with the field and the nearest known one', async () => {
    const upstream = { name: 'a__b', description: 'A tool.', schema: { type: 'object' } };
    const agent = await scriptedAgent({
      extensions: [
        extension(
          'adder',
          inEveryStep((ctx) => ctx.toolCatalog.push(upstream)),
        ),
      ],
    });
    expect((await agent.say('hello')).result.error).toMatchObject({
      code: 'E_TOOL_SCHEMA',
      extension: 'adder',
      message: 'Extension "adder": Tool "a__b": "schema" is not a field of a tool; the nearest field is "parameters".',
    });
    expect(agent.requests).toEqual([]);
  });

  const wrongly = inEveryStep((ctx) => Object.assign(ctx.toolCatalog[0] ?? {}, { schema: {} }));
  const brokenly = inEveryStep((ctx) => Object.assign(ctx.toolCatalog[0] ?? {}, { parameters: { parse: () => 1 } }));
  test.each([
    ['with an unknown field', wrongly, 'E_TOOL_SCHEMA'],
    ['that is not JSON', brokenly, 'E_TOOL_NAME'],
  ])(
    'P-12 a declared tool that a layer changes to one %s ends the turn in the name of its extension',
    async (...row) => {
      const [, change, code] = row;
      const look = inEveryStep((ctx) => void ctx.toolCatalog.length);
      const extensions = [extension('before', look), extension('changer', change), extension('after', look)];
      const agent = await scriptedAgent({ tools: [weather], extensions });
      expect((await agent.say('hello')).result.error).toMatchObject({
        code,
        extension: 'changer',
        message: expect.stringMatching(/^Extension "changer"/),
      });
    },
  );

  const named = (name: string): ToolCatalogItem => ({ name, description: 'A tool.' });

  test('an item of any name with 1 to 256 characters is offered under that name', async () => {
    const names = ['a', 'weather: get (°C)', '날씨', '시간', '7', 'a.b', 'a b', 'weather..get', 'x'.repeat(256)];
    const add = inEveryStep((ctx) => ctx.toolCatalog.push(...names.map(named)));
    const agent = await scriptedAgent({ extensions: [extension('adder', add)] });
    expect((await agent.say('hello')).text).toBe('You said: hello');
    expect(agent.requests[0]?.tools.map(({ name }) => name)).toEqual(names);
  });

  test.each<[string, string[], string]>([
    ['a name that is empty', [''], 'its name is empty.'],
    ['a name over 256 characters', ['x'.repeat(257)], 'has 257 characters, but at most 256 are allowed.'],
  ])('%s ends the turn with E_TOOL_NAME and the extension that added it', async (_title, names, message) => {
    const read = inEveryStep((ctx) => void ctx.toolCatalog.length);
    const add = inEveryStep((ctx) => ctx.toolCatalog.unshift(...names.map(named)));
    const extensions = [extension('before', read), extension('adder', add), extension('after', read)];
    const agent = await scriptedAgent({ tools: [weather], extensions });
    const { result } = await agent.say('hello');
    expect(result.error).toMatchObject({ code: 'E_TOOL_NAME', extension: 'adder' });
    expect(result.error?.message).toEndWith(message);
    expect(agent.requests).toEqual([]);
  });

  test.each<[string, ExtensionRegister]>([
    [
      'ctx.tools of a model layer',
      layerOf('model', (ctx) => {
        ctx.tools = [...ctx.tools, named('')];
        return ctx.next();
      }),
    ],
    [
      'ctx.model.generate',
      layerOf('step', async (ctx) => {
        await ctx.model.generate({ messages: [{ role: 'user', content: 'hi' }], tools: [named('')] });
        return ctx.next();
      }),
    ],
  ])('the names in %s are checked, too', async (_title, register) => {
    const agent = await scriptedAgent({ extensions: [extension('adder', register)] });
    expect((await agent.say('hello')).result.error).toMatchObject({ code: 'E_TOOL_NAME', extension: 'adder' });
    expect(agent.requests).toEqual([]);
  });

  const listed = (description: string): ToolCatalogItem => ({ name: 'skills__list', description });

  test('C-13 of two items with one name the last counts, at the place of the first; one warning names the layer', async () => {
    const inner: string[] = [];
    const agent = await scriptedAgent({
      tools: [weather],
      extensions: [
        extension('skills', ({ pipeline, tools }) => {
          tools.register(listed('Registered.'), () => 'the list');
          pipeline.register('step', (ctx) => {
            ctx.toolCatalog = [...ctx.toolCatalog, named('other__tool'), listed('Pushed.')];
            return ctx.next();
          });
          pipeline.register(
            'step',
            (ctx) => {
              ctx.toolCatalog.push(listed('Last.'));
              return ctx.next();
            },
            { name: 'again' },
          );
        }),
        extension(
          'inner',
          inEveryStep((ctx) => inner.push(...ctx.toolCatalog.map(({ description }) => description))),
        ),
      ],
    });
    await agent.say('hello');
    await agent.say('hello');
    expect(agent.requests.map(({ tools }) => tools.map(({ description }) => description))).toEqual([
      ['The weather.', 'Last.', 'A tool.'],
      ['The weather.', 'Last.', 'A tool.'],
    ]);
    // Layers inside see what the layers around them left.
    expect(inner.slice(0, 5)).toEqual(['The weather.', 'Registered.', 'A tool.', 'Pushed.', 'Last.']);
    expect(agent.logs).toMatchObject([
      {
        level: 'warn',
        event: 'catalog.repeated_tool',
        extension: 'skills',
        message: expect.stringContaining('The step layer "again" of extension "skills" added the newest.'),
        data: { tools: ['skills__list'] },
      },
    ]);
  });

  test.each<[string, ExtensionRegister]>([
    [
      'ctx.tools of a model layer',
      layerOf('model', (ctx) => {
        ctx.tools.push(listed('First.'), listed('Last.'));
        return ctx.next();
      }),
    ],
    [
      'ctx.model.generate',
      layerOf('step', async (ctx) => {
        const messages = [{ role: 'user', content: 'hi' }] as const;
        await ctx.model.generate({ messages: [...messages], tools: [listed('First.'), listed('Last.')] });
        return ctx.next();
      }),
    ],
  ])('C-13 of two items with one name in %s the last counts', async (_title, register) => {
    const agent = await scriptedAgent({ extensions: [extension('adder', register)] });
    expect((await agent.say('hello')).text).toBe('You said: hello');
    expect(agent.requests[0]?.tools).toMatchObject([{ description: 'Last.' }]);
    expect(agent.logs).toMatchObject([{ event: 'catalog.repeated_tool', extension: 'adder' }]);
  });

  test('C-13 of two names that are one name for providers, the last is offered', async () => {
    const twin = toProviderName('a b');
    const add = inEveryStep((ctx) => ctx.toolCatalog.push(named(twin), named('other'), named('a b')));
    const agent = await scriptedAgent({ extensions: [extension('adder', add)] });
    expect((await agent.say('hello')).text).toBe('You said: hello');
    expect(agent.requests[0]?.tools.map(({ name }) => name)).toEqual(['a b', 'other']);
    expect(agent.logs).toMatchObject([{ event: 'catalog.repeated_tool', data: { tools: ['a b'] } }]);
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
