import { describe, expect, test } from 'bun:test';
import type { ExtensionApi } from '@goondan/types';
import { extension, scriptedAgent } from '../../testing/index.ts';

describe('the api of an extension', () => {
  test('X-08 has exactly pipeline, tools, state, events and logger', async () => {
    const keys: string[][] = [];
    await scriptedAgent({ extensions: [extension('looker', (api) => void keys.push(Object.keys(api)))] });
    expect(keys).toEqual([['pipeline', 'tools', 'state', 'events', 'logger']]);
  });

  test('X-08 all five work from the first line of register, the first extension’s too', async () => {
    const heard: unknown[] = [];
    const agent = await scriptedAgent({
      script: [{ when: 'go', call: { tool: 'first__do' } }, { say: '{{result}}' }],
      extensions: [
        extension('first', async ({ pipeline, tools, state, events, logger }) => {
          logger.info('here');
          events.on('first.ready', (word) => heard.push(word));
          events.emit('first.ready', 'ready');
          expect(await state.get()).toBeNull();
          await state.set({ set: true });
          expect(await state.get()).toEqual({ set: true });
          tools.register({ name: 'first__do', description: 'Does it.' }, () => 'done');
          pipeline.register('turn', (ctx) => {
            heard.push('turn');
            return ctx.next();
          });
        }),
      ],
    });
    expect(agent.logs).toEqual([expect.objectContaining({ message: 'here', extension: 'first' })]);
    expect(heard).toEqual(['ready']);
    expect((await agent.say('go')).text).toBe('done');
    expect(heard).toEqual(['ready', 'turn']);
    expect(await agent.stateOf('first')).toEqual({ set: true });
  });

  test('X-08 its functions work when they are taken out of it', async () => {
    const agent = await scriptedAgent({
      extensions: [
        extension('taker', async (api) => {
          /* oxlint-disable typescript/unbound-method -- that is what this test is about */
          const { register } = api.pipeline;
          const { register: registerTool } = api.tools;
          const { get, set } = api.state;
          const { on, emit } = api.events;
          const { info } = api.logger;
          /* oxlint-enable typescript/unbound-method */
          register('turn', (ctx) => ctx.next());
          registerTool({ name: 'taker__do', description: 'Does it.' }, () => null);
          await set(await get());
          on('x', () => info('heard'));
          emit('x');
        }),
      ],
    });
    expect(agent.logs.map(({ message }) => message)).toEqual(['heard']);
    expect(agent.layers('turn')).toEqual(['taker/turn']);
  });

  test('X-08 its members cannot be replaced', async () => {
    const apis: ExtensionApi[] = [];
    await scriptedAgent({ extensions: [extension('taker', (api) => void apis.push(api))] });
    const [api] = apis;
    if (api === undefined) throw new Error('nothing was registered');
    for (const owner of [api, api.pipeline, api.tools, api.state, api.events, api.logger]) {
      expect(owner).toSatisfy(Object.isFrozen);
    }
  });

  test('X-08 is a different object for each extension', async () => {
    const apis: ExtensionApi[] = [];
    const keep = (api: ExtensionApi) => void apis.push(api);
    await scriptedAgent({ extensions: [extension('one', keep), extension('two', keep)] });
    expect(apis[0]).not.toBe(apis[1] as ExtensionApi);
    expect(apis[0]?.state).not.toBe(apis[1]?.state as ExtensionApi['state']);
  });

  test.each([
    ['a bad name', { name: 'do', description: 'Bad.' }, 'E_TOOL_NAME'],
    ['the name of a declared tool', { name: 'thing__do', description: 'Mine now.' }, 'E_TOOL_TAKEN'],
  ])('X-09 tools.register with %s throws, and the start fails naming both codes', async (_title, item, code) => {
    const thrown: unknown[] = [];
    const started = scriptedAgent({
      tools: [
        { name: 'thing', exports: [{ name: 'do', description: 'Does it.' }], handlers: { do: () => 'declared' } },
      ],
      extensions: [
        extension('taker', ({ tools }) => {
          try {
            tools.register(item, () => 'taken');
          } catch (error) {
            thrown.push(error);
            throw error;
          }
        }),
      ],
    });
    expect(await started.catch((error: unknown) => error)).toMatchObject({
      code: 'E_EXT_INIT',
      message: expect.stringContaining(`(${code})`),
    });
    expect(thrown).toEqual([expect.objectContaining({ code })]);
  });

  test('X-09 a registered tool is in every later step, until it is replaced', async () => {
    const agent = await scriptedAgent({
      script: [
        { when: 'go', call: { tool: 'ext__do' } },
        { afterTool: 'ext__do', say: '{{result}}' },
      ],
      extensions: [
        extension('one', ({ tools }) => tools.register({ name: 'ext__do', description: 'Old.' }, () => 'old')),
        extension('two', ({ tools }) => tools.register({ name: 'ext__do', description: 'New.' }, () => 'new')),
      ],
    });
    expect((await agent.say('go')).text).toBe('new');
    await agent.say('go');
    const offered = agent.requests.map(({ tools }) => tools.map(({ description }) => description));
    expect(offered).toEqual([['New.'], ['New.'], ['New.'], ['New.']]);
  });
});
