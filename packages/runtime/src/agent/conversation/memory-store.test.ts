import { describe, expect, test } from 'bun:test';
import { createUserMessage, GoondanError, type Message, type TurnResult } from '@goondan/types';
import type { BaseDelta, ConversationStore, TurnRecord } from './conversation-store.ts';
import { memoryStore } from './memory-store.ts';

const address = { agentName: 'coder', instanceKey: 'default' };
const message = (id: string): Message => createUserMessage(id, {}, { id, createdAt: new Date(7) });
const record = (id: string): TurnRecord => ({
  type: 'message',
  event: { type: 'append', message: message(id) },
  author: { kind: 'input' },
});
const done = (turnId: string): TurnResult => ({ turnId, finishReason: 'text_response' });
const adds = (...ids: string[]): BaseDelta => ({ type: 'append', messages: ids.map((id) => message(id)) });

async function runTurn(store: ConversationStore, turnId: string, delta: BaseDelta, state = {}): Promise<number> {
  const { epoch } = await store.open(address, turnId);
  await store.append(address, epoch, 0, [record(turnId)]);
  await store.commit(address, epoch, turnId, delta, state, done(turnId));
  return epoch;
}

async function idsIn(store: ConversationStore): Promise<string> {
  return (await store.read(address)).messages.map(({ id }) => id).join('');
}

describe('opening', () => {
  test('an unknown instance is empty', async () => {
    const opened = await memoryStore().open(address, 'one');
    expect(opened).toMatchObject({ version: 0, log: [], extensionState: {} });
    expect(opened.finished).toBeUndefined();
    expect(await opened.loadBase()).toEqual([]);
  });

  test('M-09 the next turn’s base is the committed one, with dates as dates', async () => {
    const store = memoryStore();
    await runTurn(store, 'one', adds('a', 'b'), { skills: { open: ['x'] } });
    const opened = await store.open(address, 'two');
    expect(await opened.loadBase()).toEqual([message('a'), message('b')]);
    expect((await opened.loadBase())[0]?.createdAt).toEqual(new Date(7));
    expect(opened).toMatchObject({ version: 1, log: [], extensionState: { skills: { open: ['x'] } } });
  });

  test('instances share nothing, even if agent and key, joined, give the same text', async () => {
    const glues = ['', '/', '~', '","', '\0'];
    const pairs = glues.map((glue) => [
      { agentName: 'a', instanceKey: `b${glue}c` },
      { agentName: `a${glue}b`, instanceKey: 'c' },
    ]);
    pairs.push([address, { ...address, instanceKey: 'other' }], [address, { ...address, agentName: 'reviewer' }]);
    for (const [one = address, other = address] of pairs) {
      const store = memoryStore();
      const { epoch } = await store.open(one, 'turn');
      await store.commit(one, epoch, 'turn', adds('a'), { x: 1 }, done('turn'));
      expect(await store.read(other)).toEqual({ version: 0, stateVersion: 0, messages: [], extensionState: {} });
      expect((await store.open(other, 'turn')).finished).toBeUndefined();
    }
  });
});

describe('an interrupted turn', () => {
  test('M-11 gets its records back in order, each once, and the base is as it was', async () => {
    const store = memoryStore();
    await runTurn(store, 'one', adds('a'));
    const first = await store.open(address, 'two');
    await store.append(address, first.epoch, 0, [record('x'), record('y')]);
    await store.append(address, first.epoch, 2, [record('z')]);
    const again = await store.open(address, 'two');
    expect(again.log).toEqual(['x', 'y', 'z'].map(record));
    expect(again.version).toBe(1);
    expect(await again.loadBase()).toEqual([message('a')]);
    expect(await idsIn(store)).toBe('a');
  });

  test('M-11 a batch that is appended twice, because its sender could not know that it had arrived, counts once', async () => {
    const store = memoryStore();
    const { epoch } = await store.open(address, 'one');
    await store.append(address, epoch, 0, [record('x')]);
    await store.append(address, epoch, 1, [record('y'), record('z')]);
    await store.append(address, epoch, 1, [record('y'), record('z')]);
    expect((await store.open(address, 'one')).log).toEqual(['x', 'y', 'z'].map(record));
  });

  test('the returned log is a copy: later appends do not show in it', async () => {
    const store = memoryStore();
    const first = await store.open(address, 'one');
    await store.append(address, first.epoch, 0, [record('x')]);
    const { log, epoch } = await store.open(address, 'one');
    await store.append(address, epoch, 1, [record('y')]);
    expect(log).toEqual([record('x')]);
  });

  test('is forgotten once another turn is opened: that one starts from the committed base', async () => {
    const store = memoryStore();
    const { epoch } = await store.open(address, 'lost');
    await store.append(address, epoch, 0, [record('x')]);
    expect((await store.open(address, 'other')).log).toEqual([]);
    expect(await idsIn(store)).toBe('');
  });
});

describe('committing', () => {
  test('the base, the states and the result change together, and the log is gone', async () => {
    const store = memoryStore();
    const { epoch } = await store.open(address, 'one');
    await store.append(address, epoch, 0, [record('x')]);
    expect(await store.read(address)).toEqual({ version: 0, stateVersion: 0, messages: [], extensionState: {} });
    await store.commit(address, epoch, 'one', adds('a'), { x: 1 }, done('one'));
    expect(await store.read(address)).toEqual({
      version: 1,
      stateVersion: 1,
      messages: [message('a')],
      extensionState: { x: 1 },
    });
    expect((await store.open(address, 'two')).log).toEqual([]);
  });

  test('a delta of type append extends the base; one of type rewrite replaces it', async () => {
    const store = memoryStore();
    await runTurn(store, 'one', adds('a', 'b'));
    await runTurn(store, 'two', adds('c'));
    expect(await idsIn(store)).toBe('abc');
    await runTurn(store, 'three', { type: 'rewrite', messages: [message('x')] });
    expect(await idsIn(store)).toBe('x');
  });

  test('the base that a turn loaded stays unchanged', async () => {
    const store = memoryStore();
    await runTurn(store, 'one', adds('a'));
    const opened = await store.open(address, 'two');
    await store.commit(address, opened.epoch, 'two', adds('b'), {}, done('two'));
    expect(await opened.loadBase()).toEqual([message('a')]);
  });

  test('M-11 a committed turn is finished: opened again, it has its result and an empty log', async () => {
    const store = memoryStore();
    await runTurn(store, 'one', adds('a'));
    const again = await store.open(address, 'one');
    expect(again.finished).toEqual(done('one'));
    expect(again.log).toEqual([]);
    expect(await idsIn(store)).toBe('a');
  });

  test('the results of the last 1,000 turns are kept, and no more', async () => {
    const store = memoryStore();
    for (let number = 0; number <= 1_000; number++) await runTurn(store, `turn-${number}`, adds());
    expect((await store.open(address, 'turn-0')).finished).toBeUndefined();
    expect((await store.open(address, 'turn-1')).finished).toEqual(done('turn-1'));
  });
});

describe('the fence', () => {
  async function codeOf(action: Promise<unknown>): Promise<string> {
    const outcome: unknown = await action.catch((error: unknown) => error);
    return outcome instanceof GoondanError ? outcome.code : 'none';
  }

  test('a writer with an old epoch gets E_FENCED and changes nothing', async () => {
    const store = memoryStore();
    const old = await store.open(address, 'one');
    await store.append(address, old.epoch, 0, [record('x')]);
    const young = await store.open(address, 'one');
    expect(young.epoch).toBeGreaterThan(old.epoch);
    expect(await codeOf(store.append(address, old.epoch, 1, [record('late')]))).toBe('E_FENCED');
    expect(await codeOf(store.commit(address, old.epoch, 'one', adds('late'), { x: 1 }, done('one')))).toBe('E_FENCED');
    expect(await store.read(address)).toEqual({ version: 0, stateVersion: 0, messages: [], extensionState: {} });
    await store.commit(address, young.epoch, 'one', adds('a'), {}, done('one'));
    expect(await idsIn(store)).toBe('a');
  });

  test('a turn commits once: a second commit, or an append after it, gets E_FENCED', async () => {
    const store = memoryStore();
    const epoch = await runTurn(store, 'one', adds('a'));
    expect(await codeOf(store.commit(address, epoch, 'one', adds('a'), {}, done('one')))).toBe('E_FENCED');
    expect(await codeOf(store.append(address, epoch, 1, [record('late')]))).toBe('E_FENCED');
    expect(await idsIn(store)).toBe('a');
  });

  test('a write without an open turn gets E_FENCED', async () => {
    expect(await codeOf(memoryStore().append(address, 0, 0, [record('x')]))).toBe('E_FENCED');
  });
});

describe('a commit of states alone', () => {
  const refusal = (store: ConversationStore) =>
    store.commitStates(address, 0, { x: 1 }).catch((error: unknown) => error);

  test('takes effect at once, changes neither messages nor version, and the next turn starts with it', async () => {
    const store = memoryStore();
    await runTurn(store, 'one', adds('a'));
    expect(await store.commitStates(address, 1, { x: 2 })).toBe(2);
    expect(await store.read(address)).toMatchObject({ version: 1, stateVersion: 2, extensionState: { x: 2 } });
    expect(await idsIn(store)).toBe('a');
    expect(await store.open(address, 'two')).toMatchObject({ version: 1, stateVersion: 2, extensionState: { x: 2 } });
  });

  test('is refused while a turn is open, and after another commit', async () => {
    const store = memoryStore();
    const { epoch } = await store.open(address, 'one');
    expect(await refusal(store)).toMatchObject({ code: 'E_STORE_ORDER' });
    await store.commit(address, epoch, 'one', adds('a'), { x: 3 }, done('one'));
    expect(await refusal(store)).toMatchObject({ code: 'E_FENCED' });
    expect((await store.read(address)).extensionState).toEqual({ x: 3 });
  });
});
