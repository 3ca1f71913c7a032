import { expect, test } from 'bun:test';
import { createUserMessage } from '@goondan/types';
import { address, eventOf, resultOf, turnOf } from '../../testing/conformance/conformance.ts';
import { MemoryLogs } from '../../testing/conformance/memory-log.ts';
import { memoryAnswers, memoryInbox } from '../../testing/conformance/memory-seams.ts';
import { readFork } from '../../workspace/journal/fork-instance.ts';
import { defaultLimits } from '../../workspace/limits.ts';
import { rejectionOf } from '../../workspace/simulation/rejection-of.ts';
import { emptyStart } from '../../workspace/history/history-start.ts';
import { forkFrames } from './log-frames.ts';
import { loggedConversations } from './logged-conversations.ts';
import { lettersOf, openLoggedAdmin } from './open-logged-admin.ts';
import { readArchivedTurns } from './read-archived-turns.ts';
import { snapshotOf } from './read-stored-log.ts';

const hello = createUserMessage('hello');
const delta = { type: 'append', messages: [hello] } as const;
const records = [{ type: 'message', event: { type: 'append', message: hello }, author: { kind: 'input' } }] as const;

function openSwarm() {
  const logs = new MemoryLogs();
  logs.claim(address, 'one');
  const log = logs.at('one');
  return { logs, log, ...loggedConversations(log, memoryAnswers(logs.swarm)), inbox: memoryInbox(logs.swarm, 'one') };
}

test('a reset leaves an empty conversation, and its history', async () => {
  const { logs, log, conversations, close } = openSwarm();
  const { epoch } = await conversations.open(address, 'turn-a');
  const long = { notes: 'x'.repeat(100_000) };
  await conversations.commit(address, epoch, 'turn-a', delta, long, resultOf('turn-a'), { at: 0, records });
  await close();
  await openLoggedAdmin(log).reset(address);
  expect(snapshotOf(address, await log.load(address))).toMatchObject({ version: 2, messages: [], extensionState: {} });
  const turns = await Array.fromAsync(readArchivedTurns(address, [logs.linesOf(address)]));
  expect(turns.map(({ result }) => (typeof result === 'string' ? result : result.turnId))).toEqual(['turn-a', 'reset']);
  expect((await conversations.open(address, 'turn-b')).version).toBe(2);
});

test('a reset that is refused ends nothing first', async () => {
  const { logs, log, conversations, close } = openSwarm();
  const { epoch } = await conversations.open(address, 'turn-a');
  await conversations.commit(address, epoch, 'turn-a', delta, {}, resultOf('turn-a'), { at: 0, records });
  await close();
  const ended: string[] = [];
  const ending = (name: string) => async () => void ended.push(name);
  expect(await rejectionOf(openLoggedAdmin(logs.at('two')).reset(address, ending('refused')))).toBeInstanceOf(Error);
  await openLoggedAdmin(log).reset(address, ending('reset'));
  expect(ended).toEqual(['reset']);
});

test('dead letters are listed by the owner and by readers, and dropped once', async () => {
  const { logs, log, conversations, inbox, close } = openSwarm();
  await inbox.accept(address, eventOf('a'));
  const [entry] = await inbox.pendingEntries(address);
  const { epoch } = await conversations.open(address, turnOf('a'), entry);
  const error = { code: 'E_DEAD_LETTER', message: 'it crashed' } as const;
  const result = { turnId: turnOf('a'), finishReason: 'error', error } as const;
  await conversations.commit(address, epoch, turnOf('a'), delta, {}, result);
  await close();
  const { deadLetters } = openLoggedAdmin(log);
  const [letter] = await deadLetters.list(address);
  expect([letter?.event, letter?.reason]).toEqual([eventOf('a'), 'it crashed']);
  expect(lettersOf(address, await log.load(address))).toEqual([...(await deadLetters.list(address))]);
  await deadLetters.drop(address, 'a');
  const { statements } = logs;
  await deadLetters.drop(address, 'a');
  // A letter that is not there costs a read, and no write.
  expect(logs.statements - statements).toBe(1);
  expect(await deadLetters.list(address)).toEqual([]);
});

test('a letter is dropped while a turn is interrupted, which keeps its records', async () => {
  const { log, conversations, inbox, close } = openSwarm();
  for (const id of ['a', 'b']) await inbox.accept(address, eventOf(id));
  const [first, second] = await inbox.pendingEntries(address);
  const { epoch } = await conversations.open(address, turnOf('a'), first);
  const error = { code: 'E_DEAD_LETTER', message: 'it crashed' } as const;
  const result = { turnId: turnOf('a'), finishReason: 'error', error } as const;
  await conversations.commit(address, epoch, turnOf('a'), delta, {}, result);
  const turn = await conversations.open(address, turnOf('b'), second);
  await conversations.append(address, turn.epoch, 0, records);
  await close();
  const limits = { ...defaultLimits, checkpointBytes: 1 };
  await openLoggedAdmin(log, { limits }).deadLetters.drop(address, 'a');
  const resumed = await conversations.open(address, turnOf('b'), second);
  expect(resumed.log).toEqual([...records]);
});

test('the frames of a fork are a conversation with its messages, authors and states', async () => {
  const { logs, log, conversations, close } = openSwarm();
  const { epoch } = await conversations.open(address, 'turn-a');
  const states = { notes: 'x'.repeat(100_000), counter: 3 };
  await conversations.commit(address, epoch, 'turn-a', delta, states, resultOf('turn-a'), { at: 0, records });
  await close();
  const source = {
    history: async () => ({ start: emptyStart, turns: readArchivedTurns(address, [logs.linesOf(address)]) }),
    readIntact: async () => ({ ...snapshotOf(address, await log.load(address)), lostStates: [], problems: [] }),
  };
  const { conversation, forked } = await readFork(source, address, undefined);
  expect(forked).toMatchObject({ messages: 1, unknownStates: [] });
  const to = { ...address, instanceKey: 'fork' };
  const claimed = logs.claim(to, 'one');
  const frames = forkFrames(to, conversation, new Date('2026-01-02T03:04:05.678Z'));
  expect(frames.map(({ seq, last, commit }) => [seq, last, commit?.version, commit?.messages])).toEqual([
    [1, 1, undefined, undefined],
    [2, 3, 1, 1],
  ]);
  for (const frame of frames) await log.append(to, claimed, frame);
  expect(snapshotOf(to, await log.load(to))).toMatchObject({ version: 1, messages: [hello], extensionState: states });
  const [fork] = await Array.fromAsync(readArchivedTurns(to, [logs.linesOf(to)]));
  expect([fork?.result, fork?.fork, fork?.events[0]?.origin?.turnId]).toEqual([
    'fork',
    { instanceKey: 'default', seq: 1 },
    'turn-a',
  ]);
  expect((await conversations.open(to, 'turn-b')).version).toBe(1);
});
