import { describe, expect, test } from 'bun:test';
import { type ErrorCode, GoondanError, type JsonValue } from '@goondan/types';
import { extension, manualClock, scriptedAgent } from '../../testing/index.ts';
import type { ConversationStore } from '../conversation/conversation-store.ts';
import { memoryStore } from '../conversation/memory-store.ts';

/** An extension that counts turns after their end, in a handler of `turn.completed`. */
const counter = extension('counter', ({ events, state }) => {
  events.on('turn.completed', () => void state.get().then((count) => state.set(Number(count) + 1)));
});

/** Creates a store that can fail, and that lists the commits which contain only states. */
function failingStore() {
  const memory = memoryStore();
  const alone: Readonly<Record<string, JsonValue>>[] = [];
  const failing: { code: ErrorCode | undefined } = { code: undefined };
  const store: ConversationStore = {
    ...memory,
    async commitStates(instance, stateVersion, states) {
      if (failing.code !== undefined) throw new GoondanError(failing.code, 'as the test says');
      alone.push(states);
      return memory.commitStates(instance, stateVersion, states);
    },
  };
  return { store, alone, failing };
}

describe('a state that is set outside a turn', () => {
  test('X-12 in a handler of turn.completed is written within two seconds', async () => {
    const clock = manualClock();
    const agent = await scriptedAgent({ clock, extensions: [counter] });
    await agent.say('one');
    expect(await agent.stateOf('counter')).toBeUndefined();
    await clock.advance(1_999);
    expect(await agent.stateOf('counter')).toBe(1);
    expect(clock.pending).toBe(0);
  });

  test('X-12 in a handler counts every turn, whether another turn, the end or another process comes next', async () => {
    const { store, alone } = failingStore();
    const first = await scriptedAgent({ store, extensions: [counter] });
    for (const id of ['a', 'b']) await first.say(id, { event: { id } });
    await first.close();
    expect(await first.stateOf('counter')).toBe(2);
    const second = await scriptedAgent({ store, extensions: [counter] });
    await second.say('c', { event: { id: 'c' } });
    await second.close();
    expect(await second.stateOf('counter')).toBe(3);
    expect(alone.map((states) => states.counter ?? null)).toEqual([1, 2, 3]);
  });

  test('X-12 by a timer or by register is written within two seconds, also when no turn ever comes', async () => {
    const clock = manualClock();
    const timed = extension('timed', async ({ state }) => {
      await state.set('from register');
      clock.after(5_000, () => void state.set('from a timer'));
    });
    const agent = await scriptedAgent({ clock, extensions: [timed] });
    await clock.advance(1_999);
    expect(await agent.stateOf('timed')).toBe('from register');
    await clock.advance(5_000);
    expect(await agent.stateOf('timed')).toBe('from a timer');
  });

  test('X-12 by a cleanup is written before the agent is closed', async () => {
    const agent = await scriptedAgent({
      extensions: [
        extension(
          'last',
          ({ state }) =>
            () =>
              state.set('cleaned up'),
        ),
      ],
    });
    await agent.close();
    expect(await agent.stateOf('last')).toBe('cleaned up');
  });

  test('is written once for many changes, and not at all for none', async () => {
    const clock = manualClock();
    const { store, alone } = failingStore();
    const busy = extension('busy', async ({ state }) => {
      for (let number = 0; number < 100; number++) await state.set(number);
    });
    await scriptedAgent({ clock, store, extensions: [busy] });
    await clock.advance(10_000);
    expect(alone).toEqual([{ busy: 99 }]);
    expect(clock.pending).toBe(0);
  });

  test('X-12 while a turn runs is part of that turn: in its records and its commit, and not written before', async () => {
    const clock = manualClock();
    const { store, alone } = failingStore();
    const reached = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    const outside = extension('outside', ({ pipeline, state }) => {
      pipeline.register('step', async (ctx) => {
        clock.after(10, () => void state.set('set by a timer'));
        reached.resolve();
        await answer.promise;
        return ctx.next();
      });
    });
    const agent = await scriptedAgent({ clock, store, extensions: [outside] });
    const turn = agent.say('hello');
    await reached.promise;
    await clock.advance(10_000);
    expect(await agent.stateOf('outside')).toBeUndefined();
    answer.resolve();
    await turn;
    expect(await agent.stateOf('outside')).toBe('set by a timer');
    await clock.advance(10_000);
    expect(alone).toEqual([]);
  });

  test('is retried while the disk is full, at growing intervals; one warning is logged, and a turn is not disturbed', async () => {
    const clock = manualClock();
    const { store, alone, failing } = failingStore();
    const agent = await scriptedAgent({ clock, store, extensions: [counter] });
    failing.code = 'E_DISK_FULL';
    await agent.say('one');
    await clock.advance(100_000);
    expect((await agent.say('two')).text).toBe('You said: two');
    // The state that the handler of the first turn set was committed with the second turn.
    expect(await agent.stateOf('counter')).toBe(1);
    failing.code = undefined;
    await clock.advance(60_000);
    expect(await agent.stateOf('counter')).toBe(2);
    expect(alone).toEqual([{ counter: 2 }]);
    const told = agent.logs.filter(({ event }) => event === 'states.not_written');
    expect(told.map(({ level }) => level)).toEqual(['warn']);
    expect(told[0]?.message).toContain('cannot be written yet: as the test says');
  });

  test.each([2, 0])('is kept when the disk failed right after the previous commit: %d', async (last) => {
    const clock = manualClock();
    const { store } = failingStore();
    let isFailing = false;
    const commitStates: ConversationStore['commitStates'] = async (...states) => {
      const version = await store.commitStates(...states);
      if (isFailing) throw new GoondanError('E_STORE_WRITE', 'after the rename');
      return version;
    };
    const agent = await scriptedAgent({ clock, store: { ...store, commitStates } });
    const memo = (value: number) => agent.agent.parts.states.put('memo', value);
    memo(0);
    await clock.advance(2_000);
    isFailing = true;
    memo(1);
    await clock.advance(1_500);
    isFailing = false;
    memo(last);
    await agent.say('hello');
    expect(await agent.stateOf('memo')).toBe(last);
    expect(agent.logs.map(({ level }) => level)).toEqual(['warn']);
  });

  test('is on the disk before the next turn opens', async () => {
    const { store } = failingStore();
    const order: string[] = [];
    const slow: ConversationStore = {
      ...store,
      async commitStates(...states) {
        // This commit is slow, so that other work runs meanwhile.
        for (let hop = 0; hop < 50; hop++) await Promise.resolve();
        const version = await store.commitStates(...states);
        order.push('states');
        return version;
      },
      open(...turn) {
        order.push('turn');
        return store.open(...turn);
      },
    };
    const agent = await scriptedAgent({ store: slow, extensions: [counter] });
    agent.agent.parts.states.put('counter', 7);
    await agent.say('one');
    expect(order.slice(0, 2)).toEqual(['states', 'turn']);
  });

  test('logs no warning while a turn of an earlier process is open, and is retried soon', async () => {
    const clock = manualClock();
    const { store, alone, failing } = failingStore();
    const agent = await scriptedAgent({ clock, store, extensions: [] });
    failing.code = 'E_STORE_ORDER';
    agent.agent.parts.states.put('counter', 7);
    await clock.advance(20_000);
    failing.code = undefined;
    await clock.advance(1_000);
    expect(alone).toEqual([{ counter: 7 }]);
    expect(agent.logs).toEqual([]);
  });

  test('is written at the end of the agent, if the turn of an earlier process is committed meanwhile', async () => {
    const clock = manualClock();
    const { store, alone, failing } = failingStore();
    const agent = await scriptedAgent({ clock, store, extensions: [] });
    failing.code = 'E_STORE_ORDER';
    agent.agent.parts.states.put('counter', 7);
    const closed = agent.close(5_000);
    await clock.advance(100);
    failing.code = undefined;
    await clock.advance(1_000);
    await closed;
    expect(alone).toEqual([{ counter: 7 }]);
    expect(agent.logs).toEqual([]);
  });

  test('is tried four times before the agent ends, and then no more', async () => {
    const clock = manualClock();
    const { store, failing } = failingStore();
    let attempts = 0;
    const commitStates: ConversationStore['commitStates'] = (...states) => {
      attempts += 1;
      return store.commitStates(...states);
    };
    const agent = await scriptedAgent({ clock, store: { ...store, commitStates }, extensions: [] });
    failing.code = 'E_DISK_FULL';
    agent.agent.parts.states.put('counter', 7);
    const closed = agent.close(60_000);
    await clock.advance(60_000);
    await closed;
    expect(attempts).toBe(4);
  });

  test('is not written again after a turn has committed it, even if an earlier write failed', async () => {
    const clock = manualClock();
    const { store, alone, failing } = failingStore();
    const agent = await scriptedAgent({ clock, store, extensions: [] });
    failing.code = 'E_DISK_FULL';
    agent.agent.parts.states.put('memo', 7);
    await clock.advance(5_000);
    await agent.say('hello');
    failing.code = undefined;
    await clock.advance(100_000);
    expect(await agent.stateOf('memo')).toBe(7);
    expect(alone).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  test('is not written any more once the agent is closed', async () => {
    const { store, alone } = failingStore();
    const agent = await scriptedAgent({ store, extensions: [] });
    const { states, saveStates } = agent.agent.parts;
    await agent.close();
    states.put('counter', 7);
    expect(await saveStates.flush()).toBe(true);
    expect(alone).toEqual([]);
  });

  test('is named in the log when it cannot be written before the agent ends', async () => {
    const { store, failing } = failingStore();
    const agent = await scriptedAgent({ store, extensions: [counter] });
    failing.code = 'E_DISK_FULL';
    await agent.say('one');
    await agent.close(300);
    expect(agent.logs.at(-1)).toMatchObject({
      level: 'error',
      message: 'States that were set outside a turn are lost (counter): the agent ends.',
    });
  });

  test('by a process with an old epoch is not written, and is named in the log', async () => {
    const clock = manualClock();
    const store = memoryStore();
    const early = extension('early', ({ state }) => state.set('from register'));
    const agent = await scriptedAgent({ clock, store, extensions: [early] });
    await store.commitStates({ agentName: 'tested', instanceKey: 'default' }, 0, { early: 'newer' });
    await clock.advance(2_000);
    expect(await agent.stateOf('early')).toBe('newer');
    expect(agent.logs.at(-1)?.message).toContain('are lost (early): another process has written newer ones');
    await agent.say('hello');
    expect(await agent.stateOf('early')).toBe('newer');
  });

  test('that another process replaced after a failed write is given up once, not at every retry', async () => {
    const clock = manualClock();
    const { store, failing } = failingStore();
    const agent = await scriptedAgent({ clock, store, extensions: [counter] });
    failing.code = 'E_DISK_FULL';
    await agent.say('one');
    await clock.advance(2_000);
    failing.code = 'E_FENCED';
    await clock.advance(600_000);
    const lost = agent.logs.filter(({ message }) => message.includes('are lost'));
    expect(lost.map(({ message }) => message)).toEqual([
      'States that were set outside a turn are lost (counter): another process has written newer ones.',
    ]);
    expect(clock.pending).toBe(0);
  });

  test('is not lost by a turn that could not be committed', async () => {
    const clock = manualClock();
    const { store } = failingStore();
    let isFull = true;
    const commit: ConversationStore['commit'] = (...turn) =>
      isFull ? Promise.reject(new GoondanError('E_DISK_FULL', 'no room')) : store.commit(...turn);
    const agent = await scriptedAgent({ clock, store: { ...store, commit }, extensions: [counter] });
    agent.agent.parts.states.put('counter', 7);
    await agent.say('one', { event: { id: 'one' } }).catch(() => undefined);
    isFull = false;
    await agent.say('one', { event: { id: 'one' } });
    await clock.advance(2_000);
    expect(await agent.stateOf('counter')).toBe(8);
  });

  test('is written within two seconds after a turn that could not begin', async () => {
    const clock = manualClock();
    const { store } = failingStore();
    const open: ConversationStore['open'] = () => {
      agent.agent.parts.states.put('counter', 7);
      return Promise.reject(new GoondanError('E_DISK_FULL', 'no room'));
    };
    const agent = await scriptedAgent({ clock, store: { ...store, open }, extensions: [counter] });
    await agent.say('one').catch(() => undefined);
    await clock.advance(2_000);
    expect(await agent.stateOf('counter')).toBe(7);
  });
});
