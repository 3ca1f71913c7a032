import { describe, expect, test } from 'bun:test';
import {
  createAssistantMessage,
  createSystemMessage,
  createUserMessage,
  type ConversationState,
  type ExtensionIdentity,
  GoondanError,
  type Message,
  type MessageEvent,
  type TurnMiddlewareContext,
  textOf,
} from '@goondan/types';
import { extension, scriptedAgent } from '../../testing/index.ts';
import { afterNext, beforeNext, oneLayer } from '../../testing/one-layer.ts';
import { fold } from '../../testing/fold.ts';
import type { ConversationStore } from '../conversation/conversation-store.ts';
import { memoryStore } from '../conversation/memory-store.ts';
import type { ExtensionDeclaration } from '../extension/load-extension.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';
import { recordingStore } from '../../testing/turn-records.ts';

const says = (text: string): MessageEvent => ({ type: 'append', message: createSystemMessage(text, {}, { id: text }) });
const textsOf = (messages: readonly Message[]) => messages.map((message) => textOf(message)).join(' | ');

const clock: ToolDeclaration = {
  name: 'clock',
  exports: [{ name: 'read', description: 'The time.' }],
  handlers: { read: () => ({ hour: 7 }) },
};
const clockScript = [
  { when: 'time', say: 'Let me look.', call: { tool: 'clock__read' } },
  { afterTool: 'clock__read', say: 'Seven.' },
  { say: 'You said: {{input}}' },
];

describe('events before and after next()', () => {
  test('M-05 in turn and step layers all count, in the order they were emitted, and the model sees those before next()', async () => {
    const agent = await scriptedAgent({
      extensions: [
        extension('talker', ({ pipeline }) => {
          pipeline.register('turn', async (ctx) => {
            ctx.emitMessageEvent(says('turn before'));
            const result = await ctx.next();
            ctx.emitMessageEvent(says('turn after'));
            return result;
          });
          pipeline.register('step', async (ctx) => {
            ctx.emitMessageEvent(says('step before'));
            const result = await ctx.next();
            ctx.emitMessageEvent(says('step after'));
            return result;
          });
        }),
      ],
    });
    await agent.say('hello');
    expect(textsOf(await agent.messages())).toBe(
      'hello | turn before | step before | You said: hello | step after | turn after',
    );
    expect(agent.requests[0]?.messages.map(({ content }) => content)).toEqual(['hello', 'turn before', 'step before']);
  });
});

describe('the conversation as layers see it', () => {
  test('M-01 M-02 M-03 at every moment nextMessages is base + SUM(events), and the base is that of the turn’s start', async () => {
    const moments: { state: ConversationState; base: string; next: string; events: number }[] = [];
    const look = ({ conversationState: state }: Pick<TurnMiddlewareContext, 'conversationState'>) => {
      const { baseMessages, nextMessages, events } = state;
      expect<readonly Message[]>(nextMessages).toEqual(fold(baseMessages, events));
      moments.push({ state, base: textsOf(baseMessages), next: textsOf(nextMessages), events: events.length });
    };
    const agent = await scriptedAgent({
      extensions: [
        oneLayer('looker', 'turn', async (ctx) => {
          look(ctx);
          ctx.emitMessageEvent(says(`note ${ctx.turnId}`));
          look(ctx);
          const result = await ctx.next();
          look(ctx);
          ctx.emitMessageEvent({ type: 'remove', targetId: `note ${ctx.turnId}` });
          look(ctx);
          return result;
        }),
      ],
    });
    await agent.say('one');
    moments.length = 0;
    await agent.say('two');
    const base = 'one | You said: one';
    expect(moments.map(({ base: seen }) => seen)).toEqual([base, base, base, base]);
    expect(moments.map(({ next, events }) => [next, events])).toEqual([
      [`${base} | two`, 1],
      [`${base} | two | note turn-event-2`, 2],
      [`${base} | two | note turn-event-2 | You said: two`, 3],
      [`${base} | two | You said: two`, 4],
    ]);
  });

  test('M-10 toLlmMessages() equals the model’s request: the system prompt, then the messages, calls with results', async () => {
    const shown: unknown[] = [];
    const agent = await scriptedAgent({
      systemPrompt: 'Be exact.',
      tools: [clock],
      script: clockScript,
      extensions: [beforeNext('looker', 'step', (ctx) => shown.push(ctx.conversationState.toLlmMessages()))],
    });
    await agent.say('What time is it?');
    expect(agent.requests.map(({ messages }) => messages)).toEqual(shown as never);
    expect(agent.requests[1]?.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool']);
    expect(agent.requests[1]?.messages[0]).toEqual({ role: 'system', content: 'Be exact.' });
    expect((await agent.messages()).some(({ data }) => data.role === 'system')).toBe(false);
  });
});

describe('a truncate', () => {
  const truncate = { type: 'truncate' } as const;
  const isSecond = ({ turnId }: Pick<TurnMiddlewareContext, 'turnId'>) => turnId === 'turn-event-2';
  type Emits = Pick<TurnMiddlewareContext, 'conversationState' | 'emitMessageEvent' | 'turnId'>;

  /** Runs two turns. `layer` truncates in the second. Returns what it sees then, and what the store and the model have. */
  async function afterTruncate(layer: (clear: (ctx: Emits) => void) => ExtensionDeclaration) {
    const { store, records } = recordingStore();
    const seen: { readonly types: string[]; readonly next: string; readonly folded: string }[] = [];
    const clear = (ctx: Emits) => {
      if (!isSecond(ctx)) return;
      ctx.emitMessageEvent(truncate);
      const { baseMessages, events, nextMessages } = ctx.conversationState;
      const folded = textsOf(fold(baseMessages, events));
      seen.push({ types: events.map(({ type }) => type), next: textsOf(nextMessages), folded });
    };
    const agent = await scriptedAgent({ store, tools: [clock], script: clockScript, extensions: [layer(clear)] });
    await agent.say('one');
    const before = records.length;
    await agent.say('What time is it?');
    const logged = records.slice(before).flatMap((record) => (record.type === 'message' ? [record.event.type] : []));
    return { agent, seen: seen[0], kept: textsOf(await agent.messages()), logged };
  }

  test.each<[string, (clear: (ctx: Emits) => void) => ExtensionDeclaration]>([
    ['turn', (clear) => beforeNext('clear', 'turn', clear)],
    ['step', (clear) => beforeNext('clear', 'step', (ctx) => void (ctx.stepIndex === 0 && clear(ctx)))],
  ])('M-04 before next() of a %s layer is followed by an append of the input', async (_kind, layer) => {
    const { agent, seen, kept, logged } = await afterTruncate(layer);
    expect(seen).toEqual({
      types: ['append', 'truncate', 'append'],
      next: 'What time is it?',
      folded: 'What time is it?',
    });
    expect(logged.slice(0, 3)).toEqual(['append', 'truncate', 'append']);
    expect(agent.requests[1]?.messages.map(({ content }) => content)).toEqual(['What time is it?']);
    expect(kept).toBe('What time is it? | Let me look. |  | Seven.');
  });

  test('M-04 after a step with tool calls is followed by the input, too: the model has not answered yet', async () => {
    const { agent, seen, kept } = await afterTruncate((clear) =>
      afterNext('clear', 'step', (_result, ctx) => void (ctx.stepIndex === 0 && clear(ctx))),
    );
    expect(seen).toMatchObject({ next: 'What time is it?', folded: 'What time is it?' });
    expect(agent.requests[2]?.messages.map(({ content }) => content)).toEqual(['What time is it?']);
    expect(kept).toStartWith('What time is it? | ');
  });

  test.each<[string, (clear: (ctx: Emits) => void) => ExtensionDeclaration]>([
    ['turn', (clear) => afterNext('clear', 'turn', (_result, ctx) => clear(ctx))],
    ['step', (clear) => afterNext('clear', 'step', ({ hasToolCalls }, ctx) => void (hasToolCalls || clear(ctx)))],
  ])('M-04 after the answer, in a %s layer, removes everything', async (_kind, layer) => {
    const { agent, seen, kept, logged } = await afterTruncate(layer);
    expect(seen).toMatchObject({ next: '', folded: '' });
    expect(logged.at(-1)).toBe('truncate');
    expect(kept).toBe('');
    await agent.say('three');
    expect(agent.requests.at(-1)?.messages.map(({ content }) => content)).toEqual(['three']);
  });

  test('M-03 M-04 after a failure survives the retry of the step, together with the input', async () => {
    let failures = 0;
    const { agent, kept } = await afterTruncate((clear) =>
      extension('clear', ({ pipeline }) => {
        pipeline.register('step', (ctx) =>
          ctx.next().catch((error: unknown) => {
            clear(ctx);
            throw error;
          }),
        );
        pipeline.register('step', (ctx) => {
          if (!isSecond(ctx) || failures++ > 0) return ctx.next();
          throw new GoondanError('E_MODEL_FAILED', 'overloaded', { retryable: true });
        });
      }),
    );
    expect(agent.requests[1]?.messages.map(({ content }) => content)).toEqual(['What time is it?']);
    expect(kept).toBe('What time is it? | Let me look. |  | Seven.');
  });

  test('M-04 after the answer of a layer, which skipped the steps, removes everything', async () => {
    const { seen, kept } = await afterTruncate((clear) =>
      extension('clear', ({ pipeline }) => {
        pipeline.register('turn', (ctx) => ctx.next().finally(() => clear(ctx)));
        const answer = async (ctx: TurnMiddlewareContext) => {
          if (!isSecond(ctx)) return ctx.next();
          return { turnId: ctx.turnId, finishReason: 'text_response' as const };
        };
        pipeline.register('turn', answer, { mayShortCircuit: true });
      }),
    );
    expect(seen).toMatchObject({ next: '', folded: '' });
    expect(kept).toBe('');
  });

  test('M-04 of a turn layer whose turn has failed removes everything', async () => {
    const { seen, kept } = await afterTruncate((clear) =>
      extension('clear', ({ pipeline }) => {
        pipeline.register('turn', (ctx) => ctx.next().finally(() => clear(ctx)));
        pipeline.register('step', (ctx) => {
          if (isSecond(ctx)) throw new Error('no luck');
          return ctx.next();
        });
      }),
    );
    expect(seen).toMatchObject({ next: '', folded: '' });
    expect(kept).toBe('');
  });
});

describe('the messages of a turn', () => {
  test('M-09 have their source, and are the same, dates included, for the next turn and after a restart', async () => {
    const store = memoryStore();
    const source = { type: 'extension', extensionName: 'noter' } as const;
    const noter = beforeNext('noter', 'turn', (ctx) =>
      ctx.emitMessageEvent({ type: 'append', message: createSystemMessage('note', {}, { source }) }),
    );
    const first = await scriptedAgent({ store, tools: [clock], script: clockScript, extensions: [noter] });
    const createdAt = new Date('2026-01-02T03:04:05Z');
    await first.say('What time is it?', { event: { createdAt } });
    const messages = await first.messages();
    expect(messages.map(({ source: each }) => each)).toEqual([
      { type: 'user' },
      source,
      { type: 'assistant', stepId: 'turn-event-1.step-0' },
      { type: 'tool', toolCallId: 'call_1', toolName: 'clock__read' },
      { type: 'assistant', stepId: 'turn-event-1.step-1' },
    ]);
    expect(messages.map((message) => message.createdAt instanceof Date)).toEqual(Array(5).fill(true));
    expect(messages[0]?.createdAt).toEqual(createdAt);

    const bases: (readonly Message[])[] = [];
    const looker = beforeNext('looker', 'turn', (ctx) => bases.push(ctx.conversationState.baseMessages));
    const second = await scriptedAgent({ store, script: clockScript, extensions: [looker] });
    await second.say('again', { event: { id: 'event-2' } });
    expect(bases).toEqual([messages]);
  });
});

describe('the source of a message that an extension makes', () => {
  const others = { type: 'extension', extensionName: 'other' } as const;
  type Emit = (ctx: TurnMiddlewareContext) => void;

  /** Runs a turn in which `other` has made a message `theirs` before. Returns the sources by id, and the error. */
  async function sourcesAfter(emit: Emit) {
    const agent = await scriptedAgent({
      extensions: [
        beforeNext('other', 'turn', (ctx) => ctx.emitMessageEvent(says('theirs'))),
        beforeNext('maker', 'turn', emit),
      ],
    });
    const { error } = (await agent.say('hello')).result;
    return { sources: Object.fromEntries((await agent.messages()).map(({ id, source }) => [id, source])), error };
  }
  const append = (message: Partial<Message>): Emit => {
    return (ctx) =>
      ctx.emitMessageEvent({ type: 'append', message: { ...createUserMessage('x'), id: 'x', ...message } });
  };

  test.each<[string, Emit]>([
    ['a system message', append(createSystemMessage('x', {}, { id: 'x' }))],
    ['a user message', append({})],
    ['an assistant message', append(createAssistantMessage('x', {}, { id: 'x' }))],
    // The cast imitates a layer in plain JavaScript.
    ['a message without a source', append({ source: undefined as never })],
    [
      'a replacement',
      (ctx) =>
        ctx.emitMessageEvent({ type: 'replace', targetId: 'theirs', message: createUserMessage('x', {}, { id: 'x' }) }),
    ],
  ])('M-09 is the extension, for %s', async (_what, emit) => {
    expect((await sourcesAfter(emit)).sources['x']).toEqual({ type: 'extension', extensionName: 'maker' });
  });

  test('M-09 is another one if the message says so, or is a changed copy', async () => {
    const source = { type: 'assistant', stepId: 'imported' } as const;
    expect((await sourcesAfter(append({ source }))).sources['x']).toEqual(source);
    const shout: Emit = (ctx) => {
      for (const message of ctx.conversationState.nextMessages) {
        const data = { role: 'user', content: textOf(message).toUpperCase() } as const;
        ctx.emitMessageEvent({ type: 'replace', targetId: message.id, message: { ...message, data } });
      }
    };
    expect((await sourcesAfter(shout)).sources).toMatchObject({
      'turn-event-1.input': { type: 'user' },
      theirs: others,
    });
    const rename: Emit = (ctx) => {
      const theirs = ctx.conversationState.nextMessages.filter(({ id }) => id === 'theirs');
      for (const each of theirs) {
        ctx.emitMessageEvent({ type: 'replace', targetId: 'theirs', message: { ...each, id: 'renamed' } });
      }
    };
    expect((await sourcesAfter(rename)).sources['renamed']).toEqual(others);
  });

  test('M-09 cannot be another extension', async () => {
    expect((await sourcesAfter(append({ source: others }))).error).toMatchObject({
      code: 'E_MESSAGE_INVALID',
      message: expect.stringMatching(/"other".*"maker"/),
      suggestion: expect.stringContaining('Leave out `source`'),
      extension: 'maker',
    });
  });

  test.each<MessageEvent>([{ type: 'remove', targetId: 'theirs' }, { type: 'truncate' }])(
    'M-09 stays that of another extension when its message is appended again: %j',
    async (event) => {
      const { sources } = await sourcesAfter((ctx) => {
        const theirs = ctx.conversationState.nextMessages.filter(({ id }) => id === 'theirs');
        ctx.emitMessageEvent(event);
        for (const message of theirs) ctx.emitMessageEvent({ type: 'append', message });
      });
      expect(sources['theirs']).toEqual(others);
    },
  );
});

describe('the base of the next turn', () => {
  /** Starts two agents on one store, and counts how often the base was loaded. */
  async function twoAgents() {
    const store = memoryStore();
    let loads = 0;
    const counting: ConversationStore = {
      ...store,
      open: async (...given) => {
        const opened = await store.open(...given);
        return { ...opened, loadBase: () => (loads++, opened.loadBase()) };
      },
    };
    const one = await scriptedAgent({ store: counting, script: [{ say: 'one' }] });
    const other = await scriptedAgent({ store: counting, script: [{ say: 'other' }] });
    return { one, other, loads: () => loads };
  }

  test('is not loaded again by the process that has just committed it', async () => {
    const { one, loads } = await twoAgents();
    for (const input of ['a', 'b', 'c']) await one.say(input);
    expect(loads()).toBe(1);
    expect(one.requests[2]?.messages).toHaveLength(5);
  });

  test('M-02 is the committed one, also when another process has committed in between', async () => {
    const { one, other } = await twoAgents();
    await one.say('a', { event: { id: 'a' } });
    await other.say('b', { event: { id: 'b' } });
    await one.say('c', { event: { id: 'c' } });
    expect(textsOf(await one.messages())).toBe('a | one | b | other | c | one');
    expect(one.requests[1]?.messages).toHaveLength(5);
  });
});

describe('the commit', () => {
  test('M-06 comes after the last turn layer has finished, and includes the events it emitted last', async () => {
    const committed: string[] = [];
    const store = memoryStore();
    const agent = await scriptedAgent({
      store,
      extensions: [
        afterNext('outer', 'turn', async (_result, ctx) => {
          await Bun.sleep(1);
          committed.push(textsOf((await store.read(ctx)).messages));
          ctx.emitMessageEvent(says('last words'));
          committed.push(textsOf((await store.read(ctx)).messages));
        }),
      ],
    });
    await agent.say('hello');
    expect(committed).toEqual(['', '']);
    expect(textsOf(await agent.messages())).toBe('hello | You said: hello | last words');
  });
});

describe('after the turn', () => {
  test('M-12 an event is refused with E_TURN_ENDED and never gets into another turn', async () => {
    const late: TurnMiddlewareContext['emitMessageEvent'][] = [];
    const codes: unknown[] = [];
    const emitLate = () => {
      for (const emit of late) {
        try {
          emit(says('too late'));
          codes.push('taken');
        } catch (error) {
          codes.push((error as GoondanError).code);
        }
      }
    };
    const agent = await scriptedAgent({
      extensions: [
        extension('late', ({ pipeline }) => {
          pipeline.register('turn', (ctx) => {
            if (late.length > 0) emitLate();
            else late.push((event) => ctx.emitMessageEvent(event));
            return ctx.next();
          });
          pipeline.register('step', (ctx) => {
            if (late.length === 1) late.push((event) => ctx.emitMessageEvent(event));
            return ctx.next();
          });
        }),
      ],
    });
    await agent.say('one');
    emitLate();
    await agent.say('two');
    expect(codes).toEqual(Array(4).fill('E_TURN_ENDED'));
    expect(textsOf(await agent.messages())).toBe('one | You said: one | two | You said: two');
  });
});

describe('the input of a turn', () => {
  test('M-03 is the turn’s first event; an event without input appends nothing', async () => {
    const events: (readonly MessageEvent[])[] = [];
    const agent = await scriptedAgent({
      script: [{ when: 'hello', say: 'Hi.' }, { say: 'Nobody asked.' }],
      extensions: [beforeNext('looker', 'turn', (ctx) => events.push(ctx.conversationState.events))],
    });
    await agent.say();
    expect(events[0]).toEqual([]);
    expect(textsOf(await agent.messages())).toBe('Nobody asked.');
    await agent.say('hello');
    expect(events[1]).toEqual([
      { type: 'append', message: expect.objectContaining({ id: 'turn-event-2.input', source: { type: 'user' } }) },
    ] as never);
  });
});

describe('a malformed event', () => {
  test.each<[code: string, event: () => unknown]>([
    [
      'E_MESSAGE_DUPLICATE',
      () => ({ type: 'append', message: createUserMessage('x', {}, { id: 'turn-event-1.input' }) }),
    ],
    ['E_MESSAGE_INVALID', () => ({ type: 'sing' })],
  ])(
    'throws %s in the layer, which may continue; if it does not, the turn fails with that error',
    async (code, event) => {
      const caught: unknown[] = [];
      const agent = await scriptedAgent({
        extensions: [
          oneLayer('clumsy', 'turn', (ctx) => {
            // The cast imitates a layer in plain JavaScript.
            const emit = (given: unknown) => ctx.emitMessageEvent(given as MessageEvent);
            if (ctx.inputEvent.input === 'fail') emit(event());
            try {
              emit(event());
            } catch (error) {
              caught.push((error as GoondanError).code);
            }
            return ctx.next();
          }),
        ],
      });
      await agent.say('go on');
      expect(caught).toEqual([code]);
      expect(textsOf(await agent.messages())).toBe('go on | You said: go on');
      const { result } = await agent.say('fail');
      expect(result).toMatchObject({ finishReason: 'error', error: { code, extension: 'clumsy' } });
      expect(textsOf(await agent.messages())).toBe('go on | You said: go on | fail');
    },
  );
});

describe('the author of an event', () => {
  /** Returns the authors of the events that the layer of `host` emits with this second argument. */
  async function authors(chosen: (own: ExtensionIdentity) => unknown): Promise<unknown> {
    const { store, records } = recordingStore();
    let author: unknown;
    const agent = await scriptedAgent({
      store,
      extensions: [
        extension('guest', (_api, _config, identity) => void (author = chosen(identity))),
        beforeNext('host', 'turn', (ctx) => ctx.emitMessageEvent(says('Note'), author as ExtensionIdentity)),
      ],
    });
    const { error } = (await agent.say('hi')).result;
    if (error !== undefined) return error;
    return records.flatMap((record) =>
      record.type === 'message' && record.author.kind === 'extension' ? record.author.name : [],
    );
  }

  test('is the extension of the layer, or the one whose identity the layer has', async () => {
    expect(await authors(() => undefined)).toEqual(['host']);
    expect(await authors((identity) => identity)).toEqual(['guest']);
  });

  test('cannot be made up', async () => {
    expect(await authors(({ name, position }) => ({ name, position }))).toMatchObject({ code: 'E_MESSAGE_INVALID' });
  });
});
