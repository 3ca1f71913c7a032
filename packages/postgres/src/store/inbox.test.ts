import { describe, expect, test } from '../testing/with-postgres.ts';
import type { AgentAddress, AgentEvent } from '@goondan/types';
import type { FrameCommit } from '@goondan/runtime/history';
import { storeAway } from '../driver/coded-error.ts';
import { claimInstance } from '../testing/claim-instance.ts';
import { codeOf } from '../testing/code-of.ts';
import { countStatements } from '../testing/count-statements.ts';
import { openTestDatabase } from '../testing/test-database.ts';
import { REMEMBERED_EVENTS } from './append-statement.ts';
import { postgresAnswers } from './answers.ts';
import { PostgresLog } from './conversation-log.ts';
import { PostgresInbox, type PostgresInboxOptions } from './inbox.ts';
import { findPending } from './read-pending.ts';
import { channelOf, readWakeUp } from './wake-channel.ts';
import { until } from '../../../../test/until.ts';

const database = countStatements((await openTestDatabase()).database);
let swarms = 0;

const callee: AgentAddress = { agentName: 'reviewer', instanceKey: 'key' };
const caller: AgentAddress = { agentName: 'coder', instanceKey: 'default' };

function swarmOf() {
  const swarm = `swarm ${++swarms}`;
  const contextOf = (node: string) => ({ database, swarm, node, mayRepeat: () => false, channel: channelOf(swarm) });
  return {
    swarm,
    inboxOf: (node: string, options?: PostgresInboxOptions) => new PostgresInbox(contextOf(node), options),
    logOf: (node: string) => new PostgresLog(contextOf(node)),
    answers: postgresAnswers(contextOf('one')),
    claim: (instance: AgentAddress, node: string) => claimInstance(database, swarm, instance, node),
  };
}

function eventOf(id: string, more: Partial<AgentEvent> = {}): AgentEvent {
  const source = { kind: 'cli', name: 'test' } as const;
  const createdAt = new Date('2026-01-02T03:04:05.678Z');
  return { id, type: 'user.message', input: id, instanceKey: 'key', source, traceId: 'trace', createdAt, ...more };
}

const request = (id: string) =>
  eventOf(id, {
    source: { kind: 'agent', name: 'coder' },
    replyTo: { target: 'coder', correlationId: 'call' },
    callChain: [{ agentName: 'outer', instanceKey: 'o' }, caller],
  });

function commitFrame(seq: number, handled: number, answer?: FrameCommit['answer']) {
  const commit = { version: seq, messages: 1, deadLetters: 0, updatedAt: 1, handled, ...(answer && { answer }) };
  return { seq, last: seq, line: `{"seq":${seq}}`, isDurable: true, commit };
}

describe('accept', () => {
  test('an accept is one statement, also at the limit, and says who owns the instance', async () => {
    const { inboxOf, claim } = swarmOf();
    const owners: (string | undefined)[] = [];
    const inbox = inboxOf('one', { onOwner: (_instance, node) => void owners.push(node) });
    database.take();
    await inbox.accept(callee, eventOf('a'));
    expect(database.take()).toHaveLength(1);
    await claim(callee, 'two');
    await inbox.accept(callee, eventOf('b'));
    expect(owners).toEqual([undefined, 'two']);
  });

  test('a statement whose answer was lost finds the event that it has accepted', async () => {
    const { swarm } = swarmOf();
    let lost = 1;
    const cut = {
      ...database,
      async query(...question: Parameters<typeof database.query>) {
        const rows = await database.query(...question);
        if (lost-- > 0) throw storeAway('cut');
        return rows;
      },
    } as typeof database;
    const inbox = new PostgresInbox({ database: cut, swarm, node: 'one', mayRepeat: () => true });
    expect(await inbox.accept(callee, eventOf('a'))).toEqual({ accepted: true, duplicate: false, seq: 1 });
    expect(await inbox.pendingEntries(callee)).toHaveLength(1);
  });

  test('an inbox is full at its limits, and has room again after a commit', async () => {
    const { inboxOf, logOf, claim } = swarmOf();
    const inbox = inboxOf('one', { limits: { inboxEvents: 3, inboxBytes: 2900 } });
    await inbox.checkRoom(callee, eventOf('a'));
    for (const id of ['a', 'b', 'c']) await inbox.accept(callee, eventOf(id));
    expect(await codeOf(inbox.accept(callee, eventOf('d')))).toBe('E_INBOX_FULL');
    expect(await codeOf(inbox.checkRoom(callee, eventOf('d')))).toBe('E_INBOX_FULL');
    await inbox.checkRoom(callee, eventOf('a'));
    expect((await inbox.accept(callee, eventOf('a'))).duplicate).toBe(true);
    const epoch = await claim(callee, 'one');
    await logOf('one').append(callee, epoch, commitFrame(1, 2));
    await inbox.checkRoom(callee, eventOf('d'));
    await inbox.accept(callee, eventOf('d'));
    for (const refuse of ['accept', 'checkRoom'] as const)
      expect(await codeOf(inbox[refuse](callee, eventOf('e', { input: 'x'.repeat(2500) })))).toBe('E_INBOX_FULL');
    await logOf('one').append(callee, epoch, commitFrame(2, 4));
    await inbox.accept(callee, eventOf('e', { input: 'x'.repeat(2500) }));
    for (const refuse of ['accept', 'checkRoom'] as const)
      expect(await codeOf(inbox[refuse](caller, eventOf('f', { input: 'x'.repeat(2900) })))).toBe('E_INBOX_FULL');
  });

  test('S-07 an event of a connection that runs at another node is fenced and not accepted', async () => {
    const { inboxOf, swarm } = swarmOf();
    await database.query(`insert into gdn_connection (swarm, connection, owner, epoch) values ($1, 'chat', 'two', 4)`, [
      swarm,
    ]);
    const fence = { connection: 'chat', epoch: 4 };
    expect(await codeOf(inboxOf('one').accept(callee, eventOf('a'), fence))).toBe('E_FENCED');
    expect(await codeOf(inboxOf('two').accept(callee, eventOf('a'), { ...fence, epoch: 3 }))).toBe('E_FENCED');
    expect(await codeOf(inboxOf('one').checkRoom(callee, eventOf('a'), fence))).toBe('E_FENCED');
    expect(await codeOf(inboxOf('two').checkRoom(callee, eventOf('a'), { ...fence, epoch: 3 }))).toBe('E_FENCED');
    await inboxOf('two').checkRoom(callee, eventOf('a'), fence);
    expect(await inboxOf('two').pendingEntries(callee)).toEqual([]);
    expect((await inboxOf('two').accept(callee, eventOf('a'), fence)).duplicate).toBe(false);
  });

  test('the instance that waits for an answer is kept beside its request', async () => {
    const { inboxOf, swarm } = swarmOf();
    await inboxOf('one').accept(callee, request('asked'));
    await inboxOf('one').accept(callee, eventOf('told'));
    const rows = await database.query('select caller_agent, caller_key from gdn_inbox where swarm = $1 order by seq', [
      swarm,
    ]);
    expect([...rows]).toEqual([
      { caller_agent: 'coder', caller_key: 'default' },
      { caller_agent: null, caller_key: null },
    ]);
  });

  test('S-03 deliveries at two nodes at the same time are each accepted once', async () => {
    const { inboxOf } = swarmOf();
    const inboxes = [inboxOf('one'), inboxOf('two')];
    const ids = Array.from({ length: 50 }, (_, index) => `event-${index}`);
    const accepted = await Promise.all(ids.flatMap((id) => inboxes.map((each) => each.accept(callee, eventOf(id)))));
    expect(accepted.filter(({ duplicate }) => !duplicate)).toHaveLength(ids.length);
    expect(await inboxes[0]?.pendingEntries(callee)).toHaveLength(ids.length);
  });
});

test('a text that PostgreSQL cannot keep is refused, or replaced in a reason', async () => {
  const { inboxOf } = swarmOf();
  for (const odd of ['a\0b', 'a\ud800']) {
    expect(await codeOf(inboxOf('one').accept({ ...callee, instanceKey: odd }, eventOf('a')))).toBe('E_INSTANCE_KEY');
    expect(await codeOf(inboxOf('one').accept(callee, eventOf(odd)))).toBe('E_EVENT_INVALID');
    expect(await inboxOf('one').cancel({ ...callee, instanceKey: odd }, 'a', 'x')).toBe(false);
    expect(await inboxOf('one').cancel(callee, odd, 'x')).toBe(false);
  }
  expect(await inboxOf('one').pendingEntries(callee)).toEqual([]);
  await inboxOf('one').accept(callee, eventOf('a', { input: 'a\0b \ud800' }));
  expect(await inboxOf('one').cancel(callee, 'a', 'a\0b \ud800')).toBe(true);
  expect(await inboxOf('one').pendingEntries(callee)).toMatchObject([
    { event: { input: 'a\0b \ud800' }, cancelled: 'a\ufffdb \ufffd' },
  ]);
});

test('the first cancel mark of an event stays', async () => {
  const { inboxOf } = swarmOf();
  await inboxOf('one').accept(callee, eventOf('a'));
  await inboxOf('one').cancel(callee, 'a', 'first');
  expect(await inboxOf('two').cancel(callee, 'a', 'second')).toBe(true);
  expect((await inboxOf('one').pendingEntries(callee)).map(({ cancelled }) => cancelled)).toEqual(['first']);
});

describe('wake-ups', () => {
  test('only the node that owns the instance is told, of input, cancel marks and answers', async () => {
    const { inboxOf, logOf, claim, swarm } = swarmOf();
    const heard: unknown[] = [];
    const listening = await database.listen(channelOf(swarm), (payload) => void heard.push(readWakeUp(payload)));
    const epoch = await claim(callee, 'one');
    await inboxOf('one').accept(callee, request('a'));
    await inboxOf('one').cancel(callee, 'a', 'not wanted');
    await claim(caller, 'one');
    await logOf('one').append(callee, epoch, commitFrame(1, 1, { eventId: 'a', caller, reply: '{}' }));
    const taken = await claim(callee, 'two');
    await inboxOf('one').accept(callee, request('b'));
    await inboxOf('one').cancel(callee, 'b', 'not wanted');
    await logOf('two').append(callee, taken, commitFrame(2, 2, { eventId: 'b', caller, reply: '{}' }));
    await inboxOf('one').accept(callee, eventOf('c'));
    await until(() => heard.length >= 4);
    const input = { type: 'input', node: 'two', instance: callee };
    expect(heard).toEqual([input, input, { type: 'answer', node: 'one', instance: caller }, input]);
    await listening.end();
  });

  test('a key that is too long for a notification is accepted without one', async () => {
    const { inboxOf, claim } = swarmOf();
    const long = { agentName: 'coder', instanceKey: 'x'.repeat(9000) };
    await claim(long, 'two');
    expect((await inboxOf('one').accept(long, eventOf('a'))).duplicate).toBe(false);
  });
});

describe('commits', () => {
  test('a commit ends its input and keeps the newest handled ids', async () => {
    const { inboxOf, logOf, claim, swarm } = swarmOf();
    const more = 5;
    const inbox = inboxOf('one', { limits: { inboxEvents: 1e6, inboxBytes: 1e9 } });
    const epoch = await claim(callee, 'one');
    const all = REMEMBERED_EVENTS + more;
    for (let id = 1; id <= all; id += 1) await inbox.accept(callee, eventOf(`event-${id}`));
    await logOf('one').append(callee, epoch, commitFrame(1, all - 1));
    expect((await inbox.pendingEntries(callee)).map(({ seq }) => seq)).toEqual([all]);
    await logOf('one').append(callee, epoch, commitFrame(2, all));
    const [kept] = await database.query(
      `select count(*) as count, min(seq) as first, count(event) as events, bool_or(pending) as pending from gdn_inbox where swarm = $1`,
      [swarm],
    );
    expect(kept).toEqual({ count: REMEMBERED_EVENTS, first: more + 1, events: 0, pending: false });
    expect(await inbox.accept(callee, eventOf(`event-${all}`))).toEqual({ accepted: true, duplicate: true });
    expect((await inbox.accept(callee, eventOf('event-1'))).duplicate).toBe(false);
  });

  test('S-03 a turn that begins before earlier input is handled writes nothing', async () => {
    const { inboxOf, logOf, claim } = swarmOf();
    const epoch = await claim(callee, 'one');
    for (const id of ['a', 'b']) await inboxOf('one').accept(callee, eventOf(id));
    const begun = { seq: 1, last: 1, line: '{}', isDurable: true, begins: 2 };
    expect(await codeOf(logOf('one').append(callee, epoch, begun))).toBe('E_STORE_ORDER');
    const whole = { ...commitFrame(1, 2), begins: 2 };
    expect(await codeOf(logOf('one').append(callee, epoch, whole))).toBe('E_STORE_ORDER');
    expect((await inboxOf('one').pendingEntries(callee)).map(({ event }) => event.id)).toEqual(['a', 'b']);
    await logOf('one').append(callee, epoch, { ...commitFrame(1, 1), begins: 1 });
    await logOf('one').append(callee, epoch, { ...commitFrame(2, 2), begins: 2 });
    expect(await inboxOf('one').pendingEntries(callee)).toEqual([]);
  });

  test('an answer is there with the commit, and goes with the commit of the turn that asked', async () => {
    const { inboxOf, logOf, claim, answers } = swarmOf();
    await inboxOf('one').accept(callee, request('asked'));
    const epoch = await claim(callee, 'one');
    const result = { turnId: 'turn-asked', finishReason: 'text_response' } as const;
    const reply = JSON.stringify({ replyTo: { target: 'coder', correlationId: 'call' }, result });
    database.take();
    await logOf('one').append(callee, epoch, commitFrame(1, 1, { eventId: 'asked', caller, reply }));
    expect(database.take()).toHaveLength(1);
    expect(await answers.left(callee)).toEqual([{ eventId: 'asked', result }]);
    const asking = await claim(caller, 'one');
    // A commit of states before the resumed turn: that turn asks for the answer once more.
    await logOf('one').append(caller, asking, commitFrame(1, 0));
    expect(await answers.left(callee)).toHaveLength(1);
    await logOf('one').append(caller, asking, commitFrame(2, 1));
    expect(await answers.left(callee)).toEqual([]);
  });

  test('S-03 the end of a turn cancels its requests without an answer, which a turn that was taken over may not repeat', async () => {
    const { inboxOf, logOf, claim } = swarmOf();
    const inbox = inboxOf('one');
    const other = { ...caller, instanceKey: 'other' };
    await inbox.accept(callee, request('open'));
    await inbox.accept(callee, { ...request('of another'), callChain: [other] });
    await inbox.accept(callee, { ...eventOf('sent'), source: { kind: 'agent', name: 'coder' }, callChain: [caller] });
    const marks = async () => (await inbox.pendingEntries(callee)).map(({ event, cancelled }) => [event.id, cancelled]);
    const asking = await claim(caller, 'one');
    database.take();
    await logOf('one').append(caller, asking, commitFrame(1, 0));
    expect((await marks()).map(([, cancelled]) => cancelled)).toEqual([undefined, undefined, undefined]);
    await logOf('one').append(caller, asking, commitFrame(2, 1));
    expect(await marks()).toEqual([
      ['open', 'the turn that asked is over'],
      ['of another', undefined],
      ['sent', undefined],
    ]);
  });

  test('the first frame of a turn marks its event as begun', async () => {
    const { inboxOf, logOf, claim, swarm } = swarmOf();
    for (const id of ['a', 'b']) await inboxOf('one').accept(callee, request(id));
    const epoch = await claim(callee, 'one');
    const { commit: _commit, ...frame } = commitFrame(1, 0);
    await logOf('one').append(callee, epoch, { ...frame, begins: 1 });
    const rows = await database.query('select event_id, began from gdn_inbox where swarm = $1 order by seq', [swarm]);
    expect([...rows]).toEqual([
      { event_id: 'a', began: true },
      { event_id: 'b', began: false },
    ]);
  });
});

test('finds pending events of all instances by the beginnings of their ids', async () => {
  const { swarm, inboxOf, logOf, claim } = swarmOf();
  const inbox = inboxOf('one');
  const ids = ['event-1f-done', 'event-1f', 'event-1f%', 'call-1f', 'event-2f'];
  for (const id of ids) await inbox.accept(id === 'call-1f' ? caller : callee, eventOf(id));
  const epoch = await claim(callee, 'one');
  await logOf('one').append(callee, epoch, commitFrame(1, 1));
  const found = await findPending(database, swarm, ['event-1f', 'call-1f']);
  expect(found.map(({ instance, eventId }) => `${instance.agentName} ${eventId}`).toSorted()).toEqual([
    'coder call-1f',
    'reviewer event-1f',
    'reviewer event-1f%',
  ]);
  expect(await findPending(database, 'another swarm', ['event'])).toEqual([]);
});
