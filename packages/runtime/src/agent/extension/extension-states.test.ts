import { describe, expect, test } from 'bun:test';
import { type ExtensionApi, GoondanError, type JsonValue } from '@goondan/types';
import fc from 'fast-check';
import { extension, scriptedAgent } from '../../testing/index.ts';
import type { ConversationStore } from '../conversation/conversation-store.ts';
import { memoryStore } from '../conversation/memory-store.ts';
import { ExtensionStates, stateApi } from './extension-states.ts';

function openState(initial: Record<string, JsonValue> = {}) {
  return { api: apiOf(new ExtensionStates(initial), 'counter') };
}

/** Returns the state of an extension in place, as the extension sees it. */
function apiOf(states: ExtensionStates, name: string) {
  return stateApi(
    () => states.get(name),
    (value) => states.put(name, states.check(name, value)),
  );
}

/** Returns an array that is nested to this depth. */
function nested(depth: number): JsonValue {
  let value: JsonValue = [];
  for (let level = 1; level < depth; level++) value = [value];
  return value;
}

test('states differ from the stored ones if one was set, or if one is there no more', () => {
  const states = new ExtensionStates({ kept: 1, removed: 2 });
  expect([states.isUnsaved, states.unsaved]).toEqual([false, []]);
  states.restore({ kept: 1 });
  expect([states.isUnsaved, states.unsaved]).toEqual([true, ['removed']]);
  states.saved({ kept: 1 });
  expect([states.isUnsaved, states.unsaved]).toEqual([false, []]);
  states.put('kept', 3);
  expect([states.isUnsaved, states.unsaved]).toEqual([true, ['kept']]);
});

describe("an extension's state", () => {
  test('X-10 is null at first', async () => {
    expect(await openState().api.get()).toBeNull();
  });

  test.each<[JsonValue]>([[null], [0], [''], [false], ['text'], [[1, [2]]], [{ a: { b: [null] } }], [nested(256)]])(
    'X-10 accepts any JSON value: %#',
    async (value) => {
      const { api } = openState();
      await api.set(value);
      expect(await api.get()).toEqual(value);
    },
  );

  test('X-10 returns any JSON value unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (value) => {
        const { api } = openState();
        // The cast is safe: fast-check generates valid JSON. A negative zero is a valid number here, although JSON text
        // loses its sign.
        await api.set(value as JsonValue);
        expect(await api.get()).toEqual(value as JsonValue);
      }),
    );
  });

  const cycle: Record<string, unknown> = { list: [] };
  cycle.list = [{ back: cycle }];
  test.each<[string, unknown]>([
    ['the value is undefined, which JSON cannot represent', undefined],
    ['onDone is a function, which JSON cannot represent', { onDone: () => 1 }],
    ['the value is a symbol, which JSON cannot represent', Symbol('x')],
    ['list[0].back is part of a cycle', cycle],
    ['a.b is undefined, which JSON cannot represent', { a: { b: undefined } }],
    ['[1] is undefined, which JSON cannot represent', [1, undefined]],
    ['count is NaN, which JSON cannot represent', { count: Number.NaN }],
    ['count is Infinity, which JSON cannot represent', { count: Number.POSITIVE_INFINITY }],
    ['big is a bigint, which JSON cannot represent', { big: 1n }],
    ['at is a Date, not a plain object', { at: new Date(0) }],
    ['seen is a Map, not a plain object', { seen: new Map() }],
    [
      'the value is a Counter, not a plain object',
      new (class Counter {
        count = 1;
      })(),
    ],
    ['nested deeper than 256 levels', nested(257)],
  ])('X-10 is refused when %s, and keeps its value', async (problem, value) => {
    const { api } = openState();
    await api.set({ kept: true });
    // Types do not check an extension in plain JavaScript.
    const error: unknown = await api.set(value as JsonValue).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(GoondanError);
    const { code, message, suggestion } = error as GoondanError;
    expect([code, suggestion]).toEqual(['E_STATE_NOT_JSON', expect.stringContaining('plain objects')]);
    expect(message).toStartWith('State of extension "counter": ');
    expect(message).toContain(problem);
    expect(await api.get()).toEqual({ kept: true });
  });

  test('is changed only by set: values are copied on the way in and out', async () => {
    const { api } = openState();
    const given = { list: [1] };
    await api.set(given);
    given.list.push(2);
    const got = await api.get();
    expect(got).toEqual({ list: [1] });
    Object.assign(Object(got), { list: 'changed' });
    expect(await api.get()).toEqual({ list: [1] });
  });

  test('X-11 belongs to one extension', async () => {
    const states = new ExtensionStates({});
    await apiOf(states, 'one').set(1);
    await apiOf(states, 'two').set(2);
    expect(await apiOf(states, 'one').get()).toBe(1);
    expect(states.snapshot()).toEqual({ one: 1, two: 2 });
  });

  test('X-12 starts with its committed value', async () => {
    expect(await openState({ counter: { count: 3 } }).api.get()).toEqual({ count: 3 });
  });
});

describe('the state of an agent', () => {
  /** An extension that counts its turns in its state. */
  const counter = (name = 'counter') =>
    extension(name, ({ pipeline, state }) => {
      pipeline.register('turn', async (ctx) => {
        await state.set({ count: (await countOf({ state })) + 1 });
        return ctx.next();
      });
    });
  const countOf = async ({ state }: Pick<ExtensionApi, 'state'>) =>
    Number(Reflect.get(Object(await state.get()), 'count') ?? 0);

  test('X-12 is written when a turn ends', async () => {
    const agent = await scriptedAgent({ extensions: [counter()] });
    expect(await agent.stateOf('counter')).toBeUndefined();
    await agent.say('one');
    expect(await agent.stateOf('counter')).toEqual({ count: 1 });
    await agent.say('two');
    expect(await agent.stateOf('counter')).toEqual({ count: 2 });
  });

  test('X-12 is restored when the instance starts again', async () => {
    const store = memoryStore();
    const first = await scriptedAgent({ store, extensions: [counter()] });
    await first.say('one', { event: { id: 'a' } });
    await first.close();
    const found: JsonValue[] = [];
    const second = await scriptedAgent({
      store,
      extensions: [extension('counter', async ({ state }) => void found.push(await state.get()))],
    });
    expect(found).toEqual([{ count: 1 }]);
    await second.say('two', { event: { id: 'b' } });
    expect(await second.stateOf('counter')).toEqual({ count: 1 });
  });

  test('X-12 set by register is written with the first turn', async () => {
    const agent = await scriptedAgent({ extensions: [extension('early', ({ state }) => state.set('set'))] });
    await agent.say('one');
    expect(await agent.stateOf('early')).toBe('set');
  });

  test('is passed on as the same frozen value when it did not change, so that a store can recognize it', async () => {
    const commits: Readonly<Record<string, JsonValue>>[] = [];
    const memory = memoryStore();
    const store: ConversationStore = {
      ...memory,
      commit: (address, epoch, turnId, delta, states, result) => {
        commits.push(states);
        return memory.commit(address, epoch, turnId, delta, states, result);
      },
    };
    const still = extension('still', ({ state }) => state.set({ kept: [1] }));
    const agent = await scriptedAgent({ store, extensions: [counter(), still] });
    await agent.say('one');
    await agent.say('two');
    const [first, second] = commits;
    expect(second?.still).toBe(first?.still as JsonValue);
    expect(second?.still).toSatisfy(Object.isFrozen);
    expect(second?.counter).not.toBe(first?.counter as JsonValue);
  });

  test('X-12 is kept by a cancelled turn', async () => {
    const cancel = new AbortController();
    const model = { generate: () => (cancel.abort(), new Promise<never>(() => undefined)) };
    const agent = await scriptedAgent({ model, extensions: [counter()] });
    const { result } = await agent.say('one', { signal: cancel.signal });
    expect(result.error?.code).toBe('E_CANCELLED');
    expect(await agent.stateOf('counter')).toEqual({ count: 1 });
  });

  test('X-11 is not shared between instances', async () => {
    const store = memoryStore();
    const one = await scriptedAgent({ store, instanceKey: 'room-1', extensions: [counter()] });
    const two = await scriptedAgent({ store, instanceKey: 'room-2', extensions: [counter()] });
    const other = await scriptedAgent({ store, agentName: 'other', instanceKey: 'room-1', extensions: [counter()] });
    await one.say('one');
    await one.say('again');
    await two.say('one');
    expect([await one.stateOf('counter'), await two.stateOf('counter')]).toEqual([{ count: 2 }, { count: 1 }]);
    expect(await other.stateOf('counter')).toBeUndefined();
  });
});
