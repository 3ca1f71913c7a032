import { describe, expect, test } from 'bun:test';
import { createUserMessage, GoondanError, type Message, type TurnResult } from '@goondan/types';
import { memoryAnswers, memoryConversations, memoryInbox, MemorySwarm, storeConformance } from '../../testing/index.ts';
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

describe('the store in memory conforms', () => {
  storeConformance(test, async () => {
    const swarm = new MemorySwarm();
    const seams = {
      conversations: memoryConversations(swarm),
      inbox: memoryInbox(swarm, 'one'),
      answers: memoryAnswers(swarm),
    };
    return { seams, again: async () => seams, end: async () => undefined };
  });
});

describe('opening', () => {
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
});

describe('committing', () => {
  test('the base that a turn loaded stays unchanged', async () => {
    const store = memoryStore();
    await runTurn(store, 'one', adds('a'));
    const opened = await store.open(address, 'two');
    await store.commit(address, opened.epoch, 'two', adds('b'), {}, done('two'));
    expect(await opened.loadBase()).toEqual([message('a')]);
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

  test('a turn commits once: a second commit, or an append after it, gets E_FENCED', async () => {
    const store = memoryStore();
    const epoch = await runTurn(store, 'one', adds('a'));
    expect(await codeOf(store.commit(address, epoch, 'one', adds('a'), {}, done('one')))).toBe('E_FENCED');
    expect(await codeOf(store.append(address, epoch, 1, [record('late')]))).toBe('E_FENCED');
    expect(await idsIn(store)).toBe('a');
  });

  test('states that were read before the commit of a turn get E_FENCED', async () => {
    const store = memoryStore();
    await runTurn(store, 'one', adds('a'), { x: 3 });
    expect(await codeOf(store.commitStates(address, 0, { x: 1 }))).toBe('E_FENCED');
    expect((await store.read(address)).extensionState).toEqual({ x: 3 });
  });

  test('a write without an open turn gets E_FENCED', async () => {
    expect(await codeOf(memoryStore().append(address, 0, 0, [record('x')]))).toBe('E_FENCED');
  });
});
