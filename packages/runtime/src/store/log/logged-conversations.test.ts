import { describe, expect, test } from 'bun:test';
import { createUserMessage, GoondanError, type TurnResult } from '@goondan/types';
import { until } from '../../../../../test/until.ts';
import type { TurnRecord } from '../../agent/conversation/conversation-store.ts';
import { address, eventOf, otherAddress, resultOf, turnOf } from '../../testing/conformance/conformance.ts';
import { MemoryLogs } from '../../testing/conformance/memory-log.ts';
import { memoryAnswers, memoryInbox } from '../../testing/conformance/memory-seams.ts';
import { storeConformance } from '../../testing/conformance/store-conformance.ts';
import { defaultLimits } from '../../workspace/limits.ts';
import { rejectionOf } from '../../workspace/simulation/rejection-of.ts';
import { loggedConversations, type LoggedOptions } from './logged-conversations.ts';
import { readArchivedTurns } from './read-archived-turns.ts';
import { snapshotOf } from './read-stored-log.ts';

/** Opens a process at a node that owns both instances of the suites. */
function openAt(logs: MemoryLogs, node: string, options?: LoggedOptions) {
  for (const instance of [address, otherAddress]) logs.claim(instance, node);
  const answers = memoryAnswers(logs.swarm);
  return {
    ...loggedConversations(logs.at(node), answers, options),
    inbox: memoryInbox(logs.swarm, node),
  };
}

type Opened = ReturnType<typeof openAt>;

/** Opens a store for a suite. `next` ends the process, and opens the next one. */
function openLogs(next: (logs: MemoryLogs, before: Opened) => Promise<Opened>, options?: LoggedOptions) {
  return async () => {
    const logs = new MemoryLogs();
    let opened = openAt(logs, 'one', options);
    return {
      seams: opened,
      async again() {
        opened = await next(logs, opened);
        return opened;
      },
      end: async () => undefined,
    };
  };
}

const eager = { limits: { ...defaultLimits, checkpointBytes: 1 } };

describe('conversations over a log conform', () => {
  describe('when a process ends', () =>
    storeConformance(
      test,
      openLogs(async (logs, before) => {
        await before.close();
        return openAt(logs, 'one');
      }),
    ));
  describe('when a process is killed', () =>
    storeConformance(
      test,
      openLogs(async (logs) => openAt(logs, 'one')),
    ));
  describe('when an instance moves to another node', () => {
    let moves = 0;
    storeConformance(
      test,
      openLogs(async (logs, before) => {
        await before.close();
        logs.flush(`node ${moves}`);
        logs.flush('one');
        moves += 1;
        return openAt(logs, `node ${moves}`);
      }),
    );
  });
  describe('with a checkpoint after every turn', () =>
    storeConformance(
      test,
      openLogs(async (logs, before) => {
        await before.close();
        return openAt(logs, 'one', eager);
      }, eager),
    ));
});

const [hello, there, again] = ['hello', 'there', 'again'].map((text) => createUserMessage(text)) as [M, M, M];
type M = ReturnType<typeof createUserMessage>;
const intent: TurnRecord = { type: 'intent', key: '0/call/a', kind: 'tool' };
const message = (of: M): TurnRecord => ({
  type: 'message',
  event: { type: 'append', message: of },
  author: { kind: 'input' },
});

async function commitTurn({ conversations }: Opened, turnId: string, of: M, states = {}): Promise<void> {
  const { epoch } = await conversations.open(address, turnId);
  const rest = { at: 0, records: [message(of)] };
  const delta = { type: 'append', messages: [of] } as const;
  await conversations.commit(address, epoch, turnId, delta, states, resultOf(turnId), rest);
}

test('losing a node loses only the records after the last durable one', async () => {
  const logs = new MemoryLogs();
  const before = openAt(logs, 'one');
  const { epoch } = await before.conversations.open(address, 'turn-a');
  await before.conversations.append(address, epoch, 0, [message(hello)]);
  await before.conversations.append(address, epoch, 1, [intent]);
  await before.conversations.append(address, epoch, 2, [message(there)]);
  logs.lose('one');
  const after = openAt(logs, 'two');
  const opened = await after.conversations.open(address, 'turn-a');
  expect(opened.log).toEqual([message(hello), intent]);
});

test('a turn that moved names the last other node that ran it, read from the log', async () => {
  const logs = new MemoryLogs();
  let at = 0;
  async function runAt(name: string, machine = name): Promise<string | undefined> {
    const { conversations } = openAt(logs, machine, { node: { name, machine } });
    const { epoch, movedFrom } = await conversations.open(address, 'turn-a');
    await conversations.append(address, epoch, at, [message(hello)]);
    await conversations.append(address, epoch, at + 1, [intent]);
    at += 2;
    return movedFrom;
  }
  expect([await runAt('one'), await runAt('one')]).toEqual([undefined, undefined]);
  expect([await runAt('two'), await runAt('two')]).toEqual(['one', 'one']);
  // The files of the first node are old by now.
  expect(await runAt('one')).toBe('two');
  // A node of the same name on another machine has other files.
  expect(await runAt('one', 'another machine')).toBe('one');
  // Two nodes may have copies of one folder.
  expect(await runAt('copy', 'another machine')).toBe('one');
  const lines = logs.linesOf(address).filter((line) => line.includes('"node":'));
  expect(lines).toHaveLength(7);
});

test('a turn that did not move names no node, also after one that did', async () => {
  const logs = new MemoryLogs();
  const [one, two] = ['one', 'two'].map((name) => ({ node: { name, machine: name } }));
  const before = openAt(logs, 'one', one);
  const { epoch } = await before.conversations.open(address, 'turn-a');
  await before.conversations.append(address, epoch, 0, [intent]);
  const after = openAt(logs, 'two', two);
  const moved = await after.conversations.open(address, 'turn-a');
  expect(moved.movedFrom).toBe('one');
  const delta = { type: 'append', messages: [hello] } as const;
  const rest = { at: 1, records: [message(hello)] };
  await after.conversations.commit(address, moved.epoch, 'turn-a', delta, {}, resultOf('turn-a'), rest);
  const next = await after.conversations.open(address, 'turn-b');
  await after.conversations.append(address, next.epoch, 0, [intent]);
  const resumed = await openAt(logs, 'two', two).conversations.open(address, 'turn-b');
  expect([next.movedFrom, resumed.log, resumed.movedFrom]).toEqual([undefined, [intent], undefined]);
});

test('a writer whose node lost the instance is fenced, and changes nothing', async () => {
  const logs = new MemoryLogs();
  const before = openAt(logs, 'one');
  const { epoch } = await before.conversations.open(address, 'turn-a');
  await before.conversations.append(address, epoch, 0, [intent]);
  const after = openAt(logs, 'two');
  const taken = await after.conversations.open(address, 'turn-a');
  expect(taken.epoch).toBeGreaterThan(epoch);
  const lines = logs.linesOf(address);
  const late = [
    before.conversations.append(address, epoch, 1, [message(hello)]),
    before.conversations.append(address, epoch, 1, [intent]),
    before.conversations.commit(address, epoch, 'turn-a', { type: 'append', messages: [] }, {}, resultOf('turn-a')),
  ];
  for (const each of late) expect(await rejectionOf(each)).toMatchObject({ code: 'E_FENCED' });
  await before.close();
  expect(logs.linesOf(address)).toEqual(lines);
});

test('a new conversation is not read, and its first turn needs one statement', async () => {
  const logs = new MemoryLogs();
  const epoch = logs.claim(address, 'one');
  const opened = openAt(logs, 'one', { newEpochOf: () => epoch });
  await commitTurn(opened, 'turn-a', hello);
  expect(logs.statements).toBe(1);
  await commitTurn(opened, 'turn-b', there);
  expect(logs.statements).toBe(2);
  await opened.close();
  expect(logs.statements).toBe(2);
  const next = openAt(logs, 'one');
  expect((await next.conversations.read(address)).messages).toEqual([hello, there]);
  expect(logs.statements).toBe(3);
});

test('a new conversation whose first write failed is read before the next one', async () => {
  const logs = new MemoryLogs();
  const opened = openAt(logs, 'one', { newEpochOf: () => logs.claim(address, 'one') });
  logs.failure = { of: 'append', error: new GoondanError('E_STORE_WRITE', 'cut'), isAfter: true };
  expect(await rejectionOf(commitTurn(opened, 'turn-a', hello))).toMatchObject({ code: 'E_STORE_WRITE' });
  expect((await opened.conversations.open(address, 'turn-a')).finished).toEqual(resultOf('turn-a'));
  await commitTurn(opened, 'turn-b', there);
  expect((await opened.conversations.read(address)).messages).toEqual([hello, there]);
});

test('a commit whose answer is lost is found by the next use', async () => {
  const logs = new MemoryLogs();
  const opened = openAt(logs, 'one');
  await commitTurn(opened, 'turn-a', hello);
  const { epoch } = await opened.conversations.open(address, 'turn-b');
  logs.failure = { of: 'append', error: new GoondanError('E_STORE_AWAY', 'cut'), isAfter: true };
  const delta = { type: 'append', messages: [there] } as const;
  const lost = opened.conversations.commit(address, epoch, 'turn-b', delta, {}, resultOf('turn-b'));
  expect(await rejectionOf(lost)).toMatchObject({ code: 'E_STORE_AWAY' });
  const found = await opened.conversations.open(address, 'turn-b');
  expect([found.version, found.finished]).toEqual([2, resultOf('turn-b')]);
  expect((await opened.conversations.read(address)).messages).toEqual([hello, there]);
});

describe('checkpoints', () => {
  test('short conversations are closed without a statement, longer ones with one', async () => {
    const logs = new MemoryLogs();
    const opened = openAt(logs, 'one');
    for (const id of ['a', 'b', 'c']) await commitTurn(opened, `turn-${id}`, createUserMessage(id));
    const before = logs.statements;
    await opened.close();
    expect(logs.statements - before).toBe(0);
    const next = openAt(logs, 'one');
    for (let turn = 0; turn < 32; turn += 1) await commitTurn(next, `turn-${turn}`, createUserMessage(`${turn}`));
    const then = logs.statements;
    await next.close();
    expect(logs.statements - then).toBe(1);
    const { frames, base } = await logs.at('one').load(address);
    expect([frames.length, base.join('').split('\n').length]).toEqual([0, 36]);
    expect((await openAt(logs, 'one').conversations.open(address, 'turn-31')).finished).toEqual(resultOf('turn-31'));
  });

  test('a checkpoint has states, letters and results, and the base grows by parts until it is rewritten', async () => {
    const logs = new MemoryLogs();
    let opened = openAt(logs, 'one', eager);
    const long = 'x'.repeat(200_000);
    await commitTurn(opened, 'turn-a', hello, { counter: { '2': 'b', '1': 'a' }, long });
    await commitTurn(opened, 'turn-b', there, { counter: 2, long });
    await opened.close();
    const stored = await logs.at('one').load(address);
    expect([stored.frames.length, stored.base.length]).toEqual([0, 2]);
    opened = openAt(logs, 'one', eager);
    const read = await opened.conversations.read(address);
    expect([read.version, read.messages, read.extensionState]).toEqual([2, [hello, there], { counter: 2, long }]);
    const { epoch } = await opened.conversations.open(address, 'turn-c');
    const rewrite = { type: 'rewrite', messages: [again] } as const;
    await opened.conversations.commit(address, epoch, 'turn-c', rewrite, {}, resultOf('turn-c'));
    await opened.close();
    const rewritten = await logs.at('one').load(address);
    expect(rewritten.base.length).toBe(1);
    expect(snapshotOf(address, rewritten)).toMatchObject({ version: 3, messages: [again], extensionState: {} });
    // An interrupted turn is never part of a checkpoint.
    const last = openAt(logs, 'one', eager);
    const turn = await last.conversations.open(address, 'turn-d');
    await last.conversations.append(address, turn.epoch, 0, [intent]);
    await last.close();
    expect((await openAt(logs, 'one').conversations.open(address, 'turn-d')).log).toEqual([intent]);
  });

  test('a failed checkpoint keeps the commit, and the next owner writes it', async () => {
    const logs = new MemoryLogs();
    const warnings: string[] = [];
    const opened = openAt(logs, 'one', { ...eager, warn: ({ message: text }) => void warnings.push(text) });
    const { epoch } = await opened.conversations.open(address, 'turn-a');
    const delta = { type: 'append', messages: [hello] } as const;
    logs.failure = { of: 'putCheckpoint', error: new GoondanError('E_STORE_WRITE', 'no') };
    await opened.conversations.commit(address, epoch, 'turn-a', delta, {}, resultOf('turn-a'));
    await until(() => warnings.length > 0);
    expect(warnings).toEqual(['committed, but not yet put in place: no']);
    expect((await opened.conversations.open(address, 'turn-b')).version).toBe(1);
    expect(await (await opened.conversations.open(address, 'turn-b')).loadBase()).toEqual([hello]);
  });
});

test('answers are those of the store, and no number of them stops the conversation', async () => {
  const logs = new MemoryLogs();
  const limits = { ...defaultLimits, outboxEntries: 1 };
  const opened = openAt(logs, 'one', { limits });
  const caller = { agentName: 'caller', instanceKey: 'k' };
  for (const id of ['a', 'b', 'c']) {
    const asked = { source: { kind: 'agent', name: 'caller' }, callChain: [caller] } as const;
    await opened.inbox.accept(address, eventOf(id, { replyTo: { target: 'caller', correlationId: id }, ...asked }));
    const [entry] = await opened.inbox.pendingEntries(address);
    const { epoch } = await opened.conversations.open(address, turnOf(id), entry);
    const result: TurnResult = { ...resultOf(turnOf(id)), responseMessage: hello };
    const rest = { at: 0, records: [message(hello)] };
    const delta = { type: 'append', messages: [hello] } as const;
    await opened.conversations.commit(address, epoch, turnOf(id), delta, {}, result, rest);
  }
  const left = await opened.answers.left(address);
  expect(left.map(({ eventId }) => eventId)).toEqual(['a', 'b', 'c']);
  expect(left[0]?.result).toEqual({ ...resultOf(turnOf('a')), responseMessage: hello });
});

test('the lines are those of files, and the history reads them across checkpoints', async () => {
  const logs = new MemoryLogs();
  const opened = openAt(logs, 'one', eager);
  await commitTurn(opened, 'turn-a', hello);
  await commitTurn(opened, 'turn-b', there);
  await opened.close();
  const lines = logs.linesOf(address);
  const numbers = lines.map((line) => (JSON.parse(line) as { seq: number }).seq);
  expect(numbers).toEqual([1, 2, 4]);
  const turns = await Array.fromAsync(readArchivedTurns(address, [lines.slice(0, 2), lines.slice(2)]));
  expect(turns.map(({ turnId, version }) => [turnId, version])).toEqual([
    ['turn-a', 1],
    ['turn-b', 2],
  ]);
  expect(turns[1]?.events.map(({ seq, event }) => [seq, event])).toEqual([[4, { type: 'append', message: there }]]);
  const gap = Array.fromAsync(readArchivedTurns(address, [[...lines.slice(0, 1)], lines.slice(2)]));
  expect(await rejectionOf(gap)).toMatchObject({ code: 'E_STORE_CORRUPT' });
  const bent = Array.fromAsync(readArchivedTurns(address, [lines.map((line) => line.replace('hello', 'hallo'))]));
  expect(await rejectionOf(bent)).toMatchObject({ code: 'E_STORE_CORRUPT' });
  const { checkpoint = '' } = await logs.at('one').load(address);
  const lost = { checkpoint: checkpoint.replace('"seq":5', '"seq":2'), base: [], frames: [lines[2] ?? ''] };
  expect(() => snapshotOf(address, lost)).toThrow('frames are missing between 2 and 4');
});
