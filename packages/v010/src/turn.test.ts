// The context of the points turn.pre and turn.post, and the messages of the turn at every point.
import { describe, expect, test } from 'bun:test';
import { textOf } from '@goondan/types';
import { scriptedAgent } from '@goondan/runtime/testing';
import type { OldMessageEvent, OldRegister, OldTurnContext } from './old-types.ts';
import { callsTool, oldExtension } from './testing/old-extension.ts';

const start = (register: OldRegister, options: Parameters<typeof scriptedAgent>[0] = {}) =>
  scriptedAgent({ ...options, extensions: [oldExtension('old', register)] });

/** Starts an agent with one function at a point of the turn. */
const startAt = (point: 'turn.pre' | 'turn.post', change: (ctx: OldTurnContext) => OldTurnContext) =>
  start(({ pipelines }) => pipelines.mutate(point, change));

describe('the context of a turn', () => {
  test('L-04 has the turn with its input, its origin and the identity of the sender', async () => {
    let seen: OldTurnContext | undefined;
    const agent = await startAt('turn.pre', (ctx) => (seen = ctx));
    const event = { type: 'mail', metadata: { subject: 'tea' }, auth: { actor: { type: 'user', id: 'u1' } } };
    await agent.say('hello', { event });
    expect(seen?.turn).toMatchObject({
      id: 'turn-event-1',
      input: 'hello',
      toolResults: [],
      origin: { type: 'mail', source: { kind: 'cli', name: 'test' }, metadata: { subject: 'tea' } },
      auth: { actor: { type: 'user', id: 'u1' } },
      metadata: {},
    });
    expect(seen).toMatchObject({ agentName: 'tested', instanceKey: agent.agent.parts.address.instanceKey });
  });

  test('L-04 a function at turn.pre changes the input that the model and the conversation get', async () => {
    const agent = await startAt('turn.pre', (ctx) => ({
      ...ctx,
      turn: { ...ctx.turn, input: `${ctx.turn.input}, please` },
    }));
    expect((await agent.say('tea')).text).toBe('You said: tea, please');
    expect((await agent.messages()).map((message) => textOf(message))).toEqual([
      'tea, please',
      'You said: tea, please',
    ]);
  });

  test('L-04 a change of the same object counts, too', async () => {
    const agent = await startAt('turn.pre', (ctx) => {
      ctx.turn.input = 'coffee';
      return ctx;
    });
    expect((await agent.say('tea')).text).toBe('You said: coffee');
  });

  test('L-04 metadata and summary reach the later functions of the turn, and metadata the other layers', async () => {
    const seen: unknown[] = [];
    const agent = await start(({ pipelines }) => {
      pipelines.mutate('turn.pre', (ctx) => ({ ...ctx, turn: { ...ctx.turn, metadata: { color: 'red' } } }));
      pipelines.mutate('step.post', (ctx) => {
        seen.push(ctx.turn.metadata);
        return ctx;
      });
      pipelines.mutate('turn.post', (ctx) => ({ ...ctx, turn: { ...ctx.turn, summary: 'short' } }));
      pipelines.mutate('turn.post', (ctx) => {
        seen.push(ctx.turn.summary);
        return ctx;
      });
    });
    await agent.say('hello');
    expect(seen).toEqual([{ color: 'red' }, 'short']);
  });

  test('L-04 a summary that no message or state keeps is a warning, once', async () => {
    const agent = await startAt('turn.post', (ctx) => ({ ...ctx, turn: { ...ctx.turn, summary: 'short' } }));
    await agent.say('hello');
    await agent.say('hello');
    expect(agent.logs).toMatchObject([
      { level: 'warn', message: expect.stringContaining('Extension "old", turn.post: ctx.turn.summary is dropped') },
    ]);
  });

  test('L-04 keeps its id and its results, whatever a function returns', async () => {
    let seen: OldTurnContext | undefined;
    const agent = await start(({ pipelines }) => {
      const other = { id: 'other', toolResults: [{} as never] };
      pipelines.mutate('turn.pre', (ctx) => ({ ...ctx, turn: { ...ctx.turn, ...other } }));
      pipelines.mutate('turn.pre', (ctx) => (seen = ctx));
    });
    await agent.say('hello');
    expect(seen?.turn).toMatchObject({ id: 'turn-event-1', toolResults: [] });
  });

  test('L-04 has the results of all tool calls at turn.post', async () => {
    let results: unknown;
    const agent = await start(({ pipelines }) => {
      pipelines.mutate('turn.post', (ctx) => {
        results = structuredClone(ctx.turn.toolResults);
        return ctx;
      });
    }, callsTool);
    await agent.say('go');
    const output = { text: 'hello' };
    expect(results).toEqual([{ toolCallId: 'call_1', toolName: 'echo__run', output, status: 'ok' }]);
  });
});

describe('the messages of a turn', () => {
  test('L-04 are the base, the events in the names of v0.10, and their sum', async () => {
    let seen: unknown;
    const agent = await start(({ pipelines }) => {
      pipelines.mutate('turn.post', (ctx) => {
        const { messageState } = ctx.turn;
        seen = structuredClone({ ...messageState, isSame: ctx.messageEvents === messageState.events });
        expect(ctx.baseMessages).toEqual(messageState.baseMessages);
        return ctx;
      });
    }, callsTool);
    await agent.say('hi');
    await agent.say('go');
    const calls = [{ id: 'call_1', name: 'echo__run', args: { text: 'hello' } }];
    const tool = { role: 'tool', toolCallId: 'call_1', toolName: 'echo__run', output: { text: 'hello' } };
    const added = [
      { role: 'user', content: 'go' },
      { role: 'assistant', toolCalls: calls },
      tool,
      { role: 'assistant', content: 'done' },
    ];
    const base = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'done' },
    ];
    expect(seen).toMatchObject({
      isSame: true,
      baseMessages: base,
      nextMessages: [...base, ...added],
      events: added.map((message, seq) => ({ type: 'llm_message', seq, message })),
    });
  });

  const system = (content: string): OldMessageEvent => ({
    type: 'system_message',
    seq: 0,
    message: { id: `id-${content}`, role: 'system', content },
  });

  test.each<[string, (ctx: OldTurnContext) => OldTurnContext]>([
    [
      'appended to the list',
      (ctx) => {
        ctx.turn.messageState.events.push(system('note'));
        return ctx;
      },
    ],
    [
      'appended to the list of the context',
      (ctx) => {
        ctx.messageEvents?.push(system('note'));
        return ctx;
      },
    ],
    [
      'in a new list of the turn',
      (ctx) => {
        const { messageState } = ctx.turn;
        const events = [...messageState.events, system('note')];
        return { ...ctx, turn: { ...ctx.turn, messageState: { ...messageState, events } } };
      },
    ],
    [
      'in a new list of the context',
      (ctx) => ({ ...ctx, messageEvents: [...(ctx.messageEvents ?? []), system('note')] }),
    ],
    [
      'given to emitMessageEvent',
      (ctx) => {
        void ctx.emitMessageEvent(system('note'));
        return ctx;
      },
    ],
  ])('L-04 an event %s is emitted, once', async (_, change) => {
    const agent = await startAt('turn.post', change);
    expect((await agent.say('hello')).result.error).toBeUndefined();
    const messages = await agent.messages();
    expect(messages.map(({ data, source }) => [data.role, source.type])).toEqual([
      ['user', 'user'],
      ['assistant', 'assistant'],
      ['system', 'extension'],
    ]);
    expect(messages[2]).toMatchObject({ id: 'id-note', source: { extensionName: 'old' } });
  });

  test('L-04 an event without an id is emitted once, although two lists have it', async () => {
    const agent = await startAt('turn.post', (ctx) => {
      ctx.messageEvents?.push({ type: 'llm_message', seq: 9, message: { role: 'user', content: 'note' } } as never);
      return ctx;
    });
    await agent.say('hello');
    expect(await agent.messages()).toHaveLength(3);
  });

  test('L-04 replace, remove and truncate change the conversation', async () => {
    const events: Record<string, (first: string) => OldMessageEvent> = {
      replace: (targetId) => ({
        type: 'replace',
        seq: 0,
        targetId,
        message: { id: 'new', role: 'user', content: 'tea' },
      }),
      remove: (targetId) => ({ type: 'remove', seq: 0, targetId }),
      truncate: () => ({ type: 'truncate', seq: 0 }),
    };
    const agent = await startAt('turn.pre', (ctx) => {
      const { input, messageState } = ctx.turn;
      const event = events[input]?.(messageState.baseMessages[0]?.id ?? '');
      if (event !== undefined) messageState.events.push(event);
      return ctx;
    });
    const texts = async () => (await agent.messages()).map((message) => textOf(message));
    await agent.say('hello');
    await agent.say('replace');
    expect(await texts()).toEqual(['tea', 'You said: hello', 'replace', 'You said: replace']);
    await agent.say('remove');
    expect((await texts())[0]).toBe('You said: hello');
    await agent.say('truncate');
    expect(await texts()).toEqual(['truncate', 'You said: truncate']);
  });

  test.each<[string, string, (ctx: OldTurnContext) => OldTurnContext]>([
    [
      'an event was removed',
      'changed earlier message events at turn.pre',
      (ctx) => ({ ...ctx, turn: { ...ctx.turn, messageState: { ...ctx.turn.messageState, events: [] } } }),
    ],
    [
      'an event was replaced',
      'changed earlier message events at turn.pre',
      (ctx) => {
        ctx.turn.messageState.events[0] = { type: 'truncate', seq: 0 };
        return ctx;
      },
    ],
    [
      'nextMessages was replaced',
      'changed baseMessages or nextMessages of the turn',
      (ctx) => ({ ...ctx, turn: { ...ctx.turn, messageState: { ...ctx.turn.messageState, nextMessages: [] } } }),
    ],
    [
      'nextMessages was assigned',
      'changed baseMessages or nextMessages of the turn',
      (ctx) => {
        ctx.turn.messageState.nextMessages = [];
        return ctx;
      },
    ],
  ])('L-04 it is an error that names the extension if %s', async (_, problem, change) => {
    const { result } = await (await startAt('turn.pre', change)).say('hello');
    expect(result.error).toMatchObject({
      code: 'E_EXT_COMPAT',
      message: `Extension "old" ${problem}.`,
      extension: 'old',
    });
    expect(result.error?.suggestion).toContain('event');
  });

  test('L-04 a malformed event is an error that names the extension and the point', async () => {
    for (const [event, problem] of [
      [{ type: 'append' }, 'its type is "append"'],
      [{ type: 'remove' }, 'remove has no targetId'],
    ] as const) {
      const agent = await startAt('turn.post', (ctx) => {
        ctx.messageEvents?.push(event as never);
        return ctx;
      });
      const { result } = await agent.say('hello');
      expect(result.error).toMatchObject({ code: 'E_MIDDLEWARE_RESULT', extension: 'old' });
      expect(result.error?.message).toStartWith(`Extension "old", turn.post: a message event is wrong: ${problem}`);
    }
  });
});

describe('what a function returns', () => {
  test.each<[string, unknown, string]>([
    ['nothing', undefined, 'it returned nothing; return the context'],
    ['a text', 'ctx', 'it returned no context'],
    ['an object without the turn', {}, 'the returned context has no turn; return { ...ctx, … }'],
  ])('L-04 %s is an error that names the extension and the point', async (_, returned, problem) => {
    const { result } = await (await startAt('turn.pre', () => returned as never)).say('hello');
    expect(result.error).toMatchObject({
      code: 'E_MIDDLEWARE_RESULT',
      message: `Extension "old", turn.pre: ${problem}.`,
      extension: 'old',
    });
  });

  test('L-04 an error is that of the extension whose function threw it, not of the first one', async () => {
    for (const thrown of [new Error('no'), 'no']) {
      const agent = await scriptedAgent({
        extensions: [
          oldExtension('first', ({ pipelines }) => pipelines.mutate('step.pre', (ctx) => ctx)),
          oldExtension('second', ({ pipelines }) => pipelines.mutate('step.pre', () => Promise.reject(thrown))),
        ],
      });
      const { result } = await agent.say('hello');
      expect(result.error).toMatchObject({ message: expect.stringContaining('no'), extension: 'second' });
    }
  });

  test('L-04 has the agent and the instance as far as they are known, also in a copy', async () => {
    const seen: unknown[] = [];
    const agent = await start(({ pipelines }) => {
      pipelines.mutate('turn.pre', (ctx) => ({ ...ctx }));
      pipelines.mutate('toolCall.pre', (ctx) => {
        seen.push(ctx.instance, ctx.agent, ctx.agent.metadata.name, ctx.instance.instanceKey);
        return ctx;
      });
    }, callsTool);
    await agent.say('go');
    const { instanceKey } = agent.agent.parts.address;
    const resource = { kind: 'Agent', metadata: { name: 'tested' } };
    expect(seen).toEqual([{ instanceKey }, resource, 'tested', instanceKey]);
  });

  test.each(['swarm', 'effectiveConfig', 'agent.spec', 'agent.metadata.labels', 'instance.id', 'instance.agents'])(
    'L-04 reading ctx.%s is an error with a replacement, also in a copy that another function returned',
    async (member) => {
      const agent = await scriptedAgent({
        extensions: [
          oldExtension('first', ({ pipelines }) => pipelines.mutate('turn.pre', (ctx) => ({ ...ctx }))),
          oldExtension('second', ({ pipelines }) =>
            pipelines.mutate('turn.pre', (ctx) => {
              member.split('.').reduce<object>((part, key) => Reflect.get(part, key) as object, ctx);
              return ctx;
            }),
          ),
        ],
      });
      const { result } = await agent.say('hello');
      expect(result.error).toMatchObject({ code: 'E_EXT_COMPAT', extension: 'second' });
      expect(result.error?.message).toBe(`Extension "second" uses ctx.${member}, which no longer exists.`);
      expect(result.error?.suggestion).toMatch(/config|ctx\./);
    },
  );
});
