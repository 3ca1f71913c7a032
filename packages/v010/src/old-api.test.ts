// The api of an old extension: its members, its state, and everything that no longer exists.
import { describe, expect, test } from 'bun:test';
import { scriptedAgent } from '@goondan/runtime/testing';
import type { OldExtensionApi, OldRegister } from './old-types.ts';
import { callsTool, oldExtension } from './testing/old-extension.ts';

const start = (register: OldRegister, config?: Record<string, string>) =>
  scriptedAgent({ extensions: [oldExtension('old', register, config)] });

const registering = (use: (api: OldExtensionApi) => unknown) => start((api) => void use(api));

describe('the api of an old extension', () => {
  test('L-04 has the config in its resource and as the second argument', async () => {
    const seen: unknown[] = [];
    await start((api, config) => void seen.push(api.extension, config), { level: 'debug' });
    expect(seen).toEqual([
      { kind: 'Extension', metadata: { name: 'old' }, spec: { config: { level: 'debug' } } },
      { level: 'debug' },
    ]);
  });

  test('L-04 returns its cleanup function to the runtime', async () => {
    const said: string[] = [];
    const agent = await start(() => () => void said.push('bye'));
    await agent.close();
    expect(said).toEqual(['bye']);
  });

  test.each([
    ['with the handler in the definition', true],
    ['with the handler as the second argument', false],
  ])('L-04 registers a tool %s', async (_, isInside) => {
    const handler = () => 'from the extension';
    const agent = await scriptedAgent({
      script: callsTool.script ?? [],
      extensions: [
        oldExtension('old', ({ tools }) => {
          const item = { name: 'echo__run', parameters: { type: 'object' } };
          if (isInside) tools.register({ ...item, handler });
          else tools.register(item, handler);
        }),
      ],
    });
    await agent.say('go');
    expect(JSON.stringify(await agent.messages())).toContain('from the extension');
  });

  test('L-04 the event bus has on, once, off and emit', async () => {
    const seen: unknown[] = [];
    await start(({ events }) => {
      const noting = (payload: unknown) => void seen.push(payload);
      events.on('a', noting);
      events.once('a', (payload) => void seen.push(`once ${String(payload)}`));
      events.emit('a', 1);
      events.on('a', noting)();
      events.off('a', noting);
      events.emit('a', 2);
    });
    expect(seen).toEqual([1, 'once 1']);
  });

  test.each([
    ['swarmBundle', /tool `bundle`/],
    ['liveConfig', /gdn reload/],
    ['oauth', /own code/],
    ['instance', /getState/],
  ])('L-04 api.%s is an error with its replacement', async (member, replacement) => {
    const started = registering((api) => Reflect.get(api, member));
    expect(started).rejects.toMatchObject({
      code: 'E_EXT_COMPAT',
      message: `Extension "old" uses api.${member}, which no longer exists.`,
      suggestion: expect.stringMatching(replacement),
    });
  });

  test('L-04 api.pipeline, which v0.10 did not have, is an error', async () => {
    const started = registering((api) => Reflect.get(api, 'pipeline'));
    expect(started).rejects.toMatchObject({
      code: 'E_EXT_COMPAT',
      message: expect.stringContaining('api.pipeline, which v0.10 did not have'),
    });
  });

  test.each(['unregister', 'get', 'list'])('L-04 api.tools.%s is an error with its replacement', async (member) => {
    const started = registering(({ tools }) => Reflect.get(tools, member));
    expect(started).rejects.toMatchObject({
      code: 'E_EXT_COMPAT',
      suggestion: expect.stringContaining('ctx.toolCatalog'),
    });
  });
});

describe('registering a function', () => {
  const run = ((ctx: unknown) => ctx) as never;

  test.each(['workspace.repoAvailable', 'workspace.worktreeMounted'] as const)(
    'L-04 at %s logs that it never fires',
    async (point) => {
      const agent = await registering(({ pipelines }) => pipelines.mutate(point, run));
      expect(agent.logs).toMatchObject([
        { level: 'warn', message: expect.stringContaining(`Extension "old", ${point}: it never fires`) },
      ]);
      expect(agent.layers('turn')).toEqual([]);
    },
  );

  test.each([
    ['step.llmcall', 'step.llmCall'],
    ['toolCall.exce', 'toolCall.exec'],
    ['turn.before', 'turn.pre'],
    ['step.tool', 'step.tools'],
  ])('L-04 at the unknown point %s is an error that suggests %s', async (point, nearest) => {
    const started = registering(({ pipelines }) => pipelines.mutate(point as 'turn.pre', run));
    expect(started).rejects.toMatchObject({ code: 'E_EXT_COMPAT', suggestion: `Did you mean "${nearest}"?` });
  });

  test('L-04 with mutate at a middleware point, or wrap at a mutator point, is an error with the other', async () => {
    const mutated = registering(({ pipelines }) => pipelines.mutate('step.llmCall' as 'turn.pre', run));
    expect(mutated).rejects.toMatchObject({ code: 'E_EXT_COMPAT', suggestion: expect.stringContaining('wrap(') });
    const wrapped = registering(({ pipelines }) => pipelines.wrap('turn.pre' as 'toolCall.exec', run));
    expect(wrapped).rejects.toMatchObject({
      code: 'E_EXT_COMPAT',
      suggestion: expect.stringContaining('mutate('),
    });
  });

  test.each<[string, unknown, unknown]>([
    ['a function that is none', 'fn', {}],
    ['options that are no object', run, 5],
    ['a priority that is no number', run, { priority: 'high' }],
    ['a priority that is not finite', run, { priority: Number.NaN }],
    ['an id that is no text', run, { id: 7 }],
    ['an empty id', run, { id: '' }],
  ])('L-04 with %s is an error, also at a point that never fires', async (_, fn, options) => {
    for (const point of ['turn.pre', 'workspace.repoAvailable'] as const) {
      const started = registering(({ pipelines }) =>
        pipelines.mutate(point as 'turn.pre', fn as never, options as never),
      );
      expect(started).rejects.toMatchObject({
        code: 'E_EXT_INIT',
        message: expect.stringContaining('E_PIPELINE_OPTIONS'),
      });
    }
  });

  test('L-04 after register has finished is an error', async () => {
    let late: OldExtensionApi | undefined;
    await registering((api) => (late = api));
    expect(() => late?.pipelines.mutate('turn.pre', run)).toThrow(
      expect.objectContaining({ code: 'E_PIPELINE_CLOSED' }),
    );
  });
});

describe('the state of an old extension', () => {
  test('is read and set synchronously, is copied, and starts as an empty object', async () => {
    const seen: unknown[] = [];
    const agent = await registering(({ getState, setState, state }) => {
      seen.push(getState());
      const value = { list: [1], none: undefined };
      setState(value as never);
      value.list.push(2);
      (getState().list as number[]).push(3);
      seen.push(getState(), state.get());
    });
    expect(seen).toStrictEqual([{}, { list: [1] }, { list: [1] }]);
    await agent.close();
    expect(await agent.stateOf('old')).toEqual({ list: [1] });
  });

  test('a value that is not JSON is an error that names its part', async () => {
    const cycle: { self?: unknown } = {};
    cycle.self = [cycle];
    for (const [value, part] of [
      [{ at: new Date() }, 'at is not a plain object'],
      [{ list: [Number.NaN] }, 'list.0 is NaN'],
      [() => 1, 'the value is a function'],
      [cycle, `${Array(100).fill('self.0').join('.')}.self is nested more than 200 deep`],
    ] as const) {
      const started = registering(({ setState }) => setState(value as never));
      expect(started).rejects.toMatchObject({
        code: 'E_EXT_INIT',
        message: expect.stringContaining(`State of extension "old": ${part}. (E_STATE_NOT_JSON)`),
      });
    }
  });
});
