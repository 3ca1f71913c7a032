import { describe, expect, test } from 'bun:test';
import { createSystemMessage, type JsonValue, type Message, type MessageEvent, textOf } from '@goondan/types';
import { extension, scriptedAgent, type ScriptedAgent } from '../../testing/index.ts';
import { beforeNext, oneLayer } from '../../testing/one-layer.ts';
import type { ConversationStore } from '../conversation/conversation-store.ts';
import { memoryStore } from '../conversation/memory-store.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';

const says = (text: string): MessageEvent => ({ type: 'append', message: createSystemMessage(text, {}, { id: text }) });
const textsOf = (messages: readonly Message[]) => messages.map((message) => textOf(message)).join(' | ');

/** Counts turns and steps in its state, and throws where the input says so. */
const breakable = extension('breakable', ({ pipeline, state }) => {
  const count = async () => state.set(Number(await state.get()) + 1);
  pipeline.register('turn', async (ctx) => {
    await count();
    ctx.emitMessageEvent(says(`${ctx.turnId} before`));
    if (ctx.inputEvent.input === 'break before') throw new Error('broken before');
    const result = await ctx.next();
    ctx.emitMessageEvent(says(`${ctx.turnId} after`));
    if (ctx.inputEvent.input === 'break after') throw new Error('broken after');
    if (ctx.inputEvent.input === 'say it broke') return { ...result, finishReason: 'error' };
    return result;
  });
  pipeline.register('step', async (ctx) => {
    await count();
    ctx.emitMessageEvent(says(`${ctx.turnId} step`));
    const result = await ctx.next();
    if (ctx.turn.inputEvent.input === 'break the step') throw new Error('broken step');
    return result;
  });
});

describe('a turn that fails', () => {
  test.each([
    ['break before', 'break before | turn-event-1 before', 1],
    ['break the step', 'break the step | turn-event-1 before | turn-event-1 step | ok', 2],
    ['break after', 'break after | turn-event-1 before | turn-event-1 step | ok | turn-event-1 after', 2],
    ['say it broke', 'say it broke | turn-event-1 before | turn-event-1 step | ok | turn-event-1 after', 2],
  ])('M-07 keeps its events and its state: %s', async (input, kept, counted) => {
    const bases: string[] = [];
    const looker = beforeNext('looker', 'turn', (ctx) => bases.push(textsOf(ctx.conversationState.baseMessages)));
    const agent = await scriptedAgent({ script: [{ say: 'ok' }], extensions: [looker, breakable] });
    const { result } = await agent.say(input);
    expect(result.finishReason).toBe('error');
    expect(textsOf(await agent.messages())).toBe(kept);
    expect(await agent.stateOf('breakable')).toBe(counted);
    await agent.say('go on');
    expect(bases).toEqual(['', kept]);
    // The failed turn counted one more turn and one more step.
    expect(await agent.stateOf('breakable')).toBe(counted + 2);
  });

  test('leaves its state to the turn after it', async () => {
    const seen: JsonValue[] = [];
    const careful = extension('careful', async ({ pipeline, state }) => {
      await state.set('from register');
      pipeline.register('turn', async (ctx) => {
        seen.push(await state.get());
        await state.set(ctx.inputEvent.input ?? '');
        if (ctx.inputEvent.input === 'fail') throw new Error('failed');
        return ctx.next();
      });
    });
    const agent = await scriptedAgent({ extensions: [careful] });
    for (const input of ['fail', 'good', 'fail', 'good']) await agent.say(input);
    expect(seen).toEqual(['from register', 'fail', 'good', 'fail']);
    expect(await agent.stateOf('careful')).toBe('good');
  });

  test('M-06 M-07 is committed only after its layers have unwound, with the events they emitted while unwinding', async () => {
    const store = memoryStore();
    const committed: number[] = [];
    const outer = oneLayer('outer', 'turn', async (ctx) => {
      try {
        return await ctx.next();
      } finally {
        await Bun.sleep(1);
        committed.push((await store.read(ctx)).messages.length);
        ctx.emitMessageEvent(says('unwound'));
      }
    });
    const agent = await scriptedAgent({ store, extensions: [outer, breakable] });
    await agent.say('break before');
    expect(committed).toEqual([0]);
    expect(textsOf(await agent.messages())).toBe('break before | turn-event-1 before | unwound');
  });

  test('M-11 is finished: the same event again returns its result and runs nothing', async () => {
    const agent = await scriptedAgent({ extensions: [breakable] });
    const first = await agent.say('break after');
    const messages = await agent.messages();
    const again = await agent.say('break after', { event: { id: 'event-1' } });
    expect(again.result).toEqual(first.result);
    expect([agent.requests.length, await agent.messages()]).toEqual([1, messages]);
  });
});

describe('a turn that was given up during a tool call', () => {
  async function giveUp(): Promise<{ agent: ScriptedAgent; letGo: () => void }> {
    const hold = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    const slow: ToolDeclaration = {
      name: 'slow',
      exports: [{ name: 'work', description: 'Takes its time.' }],
      handlers: { work: () => 'done' },
    };
    const holding = beforeNext('holding', 'toolCall', async () => {
      started.resolve();
      await hold.promise;
    });
    const agent = await scriptedAgent({
      tools: [slow],
      extensions: [holding],
      policy: { unwindMs: 5 },
      script: [{ when: 'work', calls: [{ tool: 'slow__work' }, { tool: 'slow__work' }] }, { say: 'Fine.' }],
    });
    const cancel = new AbortController();
    const turn = agent.say('work', { signal: cancel.signal });
    await started.promise;
    cancel.abort();
    expect((await turn).result.error?.code).toBe('E_CANCELLED');
    return { agent, letGo: hold.resolve };
  }

  test('M-07 M-10 keeps calls without results; the model sees them with a result', async () => {
    const { agent } = await giveUp();
    expect((await agent.messages()).map(({ data }) => data.role)).toEqual(['user', 'assistant']);
    await agent.say('and now?');
    const shown = agent.requests[1]?.messages ?? [];
    expect(shown.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'user']);
    expect(JSON.stringify(shown[2])).toContain('E_INTERRUPTED');
    expect((await agent.messages()).map(({ data }) => data.role)).toEqual(['user', 'assistant', 'user', 'assistant']);
  });

  test('does not change another turn when the call ends later', async () => {
    const { agent, letGo } = await giveUp();
    const before = await agent.messages();
    letGo();
    await Bun.sleep(5);
    expect(await agent.messages()).toEqual(before);
    await agent.say('and now?');
    expect((await agent.messages()).map(({ data }) => data.role)).toEqual(['user', 'assistant', 'user', 'assistant']);
  });
});

describe('a store that fails', () => {
  const diskFull = new Error('disk full');

  interface Failure {
    /** The index of the write that fails, counted from 0. */
    readonly write: number;
    readonly tookEffect: boolean;
  }

  /** Creates a store that fails once, at a chosen write, and works before and after that write. */
  function failingStore(inner: ConversationStore) {
    let failure: Failure | undefined;
    let writes = 0;
    const attempt = async (write: () => Promise<void>) => {
      if (writes++ !== failure?.write) return write();
      if (failure.tookEffect) await write();
      throw diskFull;
    };
    const store: ConversationStore = {
      ...inner,
      append: (...given) => attempt(() => inner.append(...given)),
      commit: (...given) => attempt(() => inner.commit(...given)),
    };
    const fail = (next: Failure) => {
      failure = next;
      writes = 0;
    };
    return { store, fail };
  }

  /** Runs one turn that succeeds, and then one turn in which a write fails. */
  async function loseTurn(failure: Failure) {
    const { store, fail } = failingStore(memoryStore());
    const bases: string[] = [];
    const looker = beforeNext('looker', 'turn', (ctx) => bases.push(textsOf(ctx.conversationState.baseMessages)));
    const agent = await scriptedAgent({ store, extensions: [looker, breakable] });
    await agent.say('one', { event: { id: 'one' } });
    const committed = await agent.messages();
    fail(failure);
    const outcome: unknown = await agent.say('two', { event: { id: 'two' } }).catch((error: unknown) => error);
    return { agent, bases, committed, outcome };
  }

  /** Returns the number of writes of a turn. The last write is the commit. */
  async function countWrites(): Promise<number> {
    let write = 0;
    while ((await loseTurn({ write, tookEffect: false })).outcome === diskFull) write++;
    return write;
  }

  test('M-06 rejects handle with the same error whichever write fails, and nothing of that turn is kept', async () => {
    const writes = await countWrites();
    expect(writes).toBeGreaterThanOrEqual(2);
    for (let write = 0; write < writes; write++) {
      const { agent, bases, committed, outcome } = await loseTurn({ write, tookEffect: false });
      expect(outcome).toBe(diskFull);
      expect(await agent.messages()).toEqual(committed);
      await agent.say('three', { event: { id: 'three' } });
      expect(bases.at(-1)).toBe(textsOf(committed));
      expect(textsOf(await agent.messages())).not.toContain('two');
      // Two successful turns of one step each were counted.
      expect(await agent.stateOf('breakable')).toBe(4);
    }
  });

  test('M-11 after its commit took effect has the turn: nothing is lost, and nothing runs again', async () => {
    const { agent, outcome } = await loseTurn({ write: (await countWrites()) - 1, tookEffect: true });
    expect(outcome).toBe(diskFull);
    expect(await agent.stateOf('breakable')).toBe(4);
    const again = await agent.say('two', { event: { id: 'two' } });
    expect(again.text).toBe('You said: two');
    expect(agent.requests).toHaveLength(2);
    await agent.say('three', { event: { id: 'three' } });
    expect(textsOf(await agent.messages())).toContain('| two | turn-two before | turn-two step | You said: two |');
    expect(await agent.stateOf('breakable')).toBe(6);
  });

  test('M-11 and recovers lets the same event continue: recorded effects are not repeated', async () => {
    const writes = await countWrites();
    for (let write = 0; write < writes; write++) {
      const { agent } = await loseTurn({ write, tookEffect: true });
      const { text } = await agent.say('two', { event: { id: 'two' } });
      expect(text).toBe('You said: two');
      // The model was called once for each turn: the lost turn had either recorded the reply, or had not called the
      // model yet.
      expect(agent.requests).toHaveLength(2);
      expect(await agent.stateOf('breakable')).toBe(4);
    }
  });

  test('to open rejects handle, and the next turn finds everything unchanged', async () => {
    const inner = memoryStore();
    let broken = true;
    const open: ConversationStore['open'] = async (...given) => {
      if (broken) throw diskFull;
      return inner.open(...given);
    };
    const agent = await scriptedAgent({ store: { ...inner, open }, extensions: [breakable] });
    expect(await agent.say('one').catch((error: unknown) => error)).toBe(diskFull);
    broken = false;
    expect((await agent.say('two')).text).toBe('You said: two');
    expect(textsOf(await agent.messages())).not.toContain('one');
  });
});
