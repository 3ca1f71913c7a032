import { createUserMessage } from '@goondan/types';
import type { BaseDelta, TurnRecord } from '../../agent/conversation/conversation-store.ts';
import type { Store } from '../../store/store.ts';
import {
  address,
  checksOf,
  eventOf,
  expectEqual,
  expectRefusal,
  type OpenSeams,
  otherAddress,
  type RegisterCheck,
  resultOf,
  turnOf,
} from './conformance.ts';

/** The seams that keep a conversation together with its input and its answers. */
export type ConversationSeams = Pick<Store, 'conversations' | 'answers'> & {
  readonly inbox: Pick<Store['inbox'], 'accept' | 'pendingEntries'>;
};

const [one, two, three] = ['one', 'two', 'three'].map((text) => createUserMessage(text));
const appendOf = (...messages: readonly (typeof one)[]): BaseDelta => ({
  type: 'append',
  messages: messages.filter((message) => message !== undefined),
});

const first: TurnRecord = { type: 'intent', key: '0/call/a', kind: 'tool' };
const second: TurnRecord = {
  type: 'effect',
  key: '0/call/a',
  kind: 'tool',
  outcome: { ok: true, value: 1 },
};
const third: TurnRecord = { type: 'intent', key: '0/call/b', kind: 'tool' };

/** Checks the promises of `ConversationStore` and of `Answers`. */
export function storeConformance(register: RegisterCheck, open: OpenSeams<ConversationSeams>): void {
  const check = checksOf(register, open);

  check('a new conversation is empty', async ({ conversations }) => {
    const { version, stateVersion, messages, extensionState } = await conversations.read(address);
    expectEqual([version, stateVersion, messages, extensionState], [0, 0, [], {}], 'nothing was committed');
    const opened = await conversations.open(address, 'turn-a');
    expectEqual([await opened.loadBase(), opened.log, opened.finished], [[], [], undefined], 'a new turn is empty');
  });

  check('an interrupted turn gets its records back, in order', async ({ conversations }, again) => {
    const { epoch } = await conversations.open(address, 'turn-a');
    await conversations.append(address, epoch, 0, [first]);
    await conversations.append(address, epoch, 1, [second, third]);
    const { log, version } = await (await again()).conversations.open(address, 'turn-a');
    expectEqual([log, version], [[first, second, third], 0], 'appended records are durable');
  });

  check('another turn begins without the records of an interrupted one', async ({ conversations }, again) => {
    const { epoch } = await conversations.open(address, 'turn-a');
    await conversations.append(address, epoch, 0, [first]);
    const next = (await again()).conversations;
    expectEqual((await next.open(address, 'turn-b')).log, [], 'records belong to one turn');
    expectEqual((await next.open(address, 'turn-a')).log, [], 'opening another turn ends the interrupted one');
  });

  check('an older writer is fenced and changes nothing', async ({ conversations }, again) => {
    const older = await conversations.open(address, 'turn-a');
    await conversations.append(address, older.epoch, 0, [first]);
    const next = (await again()).conversations;
    const newer = await next.open(address, 'turn-a');
    expectEqual(newer.epoch > older.epoch, true, 'every open raises the epoch');
    const { epoch } = older;
    await expectRefusal(() => next.append(address, epoch, 1, [second]), ['E_FENCED'], 'an old epoch cannot append');
    await expectRefusal(
      () => next.commit(address, epoch, 'turn-a', appendOf(one), {}, resultOf('turn-a')),
      ['E_FENCED'],
      'an old epoch cannot commit',
    );
    expectEqual((await next.read(address)).version, 0, 'a fenced commit changes nothing');
    expectEqual((await next.open(address, 'turn-a')).log, [first], 'a fenced append changes nothing');
  });

  check('a commit stores messages, states and result together', async ({ conversations }, again) => {
    const { epoch } = await conversations.open(address, 'turn-a');
    await conversations.append(address, epoch, 0, [first]);
    await conversations.commit(address, epoch, 'turn-a', appendOf(one, two), { counter: 1 }, resultOf('turn-a'));
    const next = (await again()).conversations;
    const { version, messages, extensionState } = await next.read(address);
    expectEqual([version, messages, extensionState], [1, [one, two], { counter: 1 }], 'a commit is durable');
    const opened = await next.open(address, 'turn-a');
    expectEqual([opened.finished, opened.log], [resultOf('turn-a'), []], 'a committed turn has its result');
  });

  check('a commit takes the last records of its turn', async ({ conversations }, again) => {
    const { epoch } = await conversations.open(address, 'turn-a');
    await conversations.append(address, epoch, 0, [first]);
    const rest = { at: 1, records: [second] };
    await conversations.commit(address, epoch, 'turn-a', appendOf(one, two), {}, resultOf('turn-a'), rest);
    const next = (await again()).conversations;
    expectEqual((await next.read(address)).messages, [one, two], 'the messages of all records are committed');
    expectEqual((await next.open(address, 'turn-a')).log, [], 'no record is left');
    const after = await next.open(address, 'turn-b');
    expectEqual(await after.loadBase(), [one, two], 'the next turn starts from these messages');
  });

  check('the next turn continues the conversation', async ({ conversations }, again) => {
    const before = await conversations.open(address, 'turn-a');
    await conversations.commit(address, before.epoch, 'turn-a', appendOf(one), { a: 1, b: 2 }, resultOf('turn-a'));
    const next = (await again()).conversations;
    const opened = await next.open(address, 'turn-b');
    const { epoch, version, extensionState } = opened;
    expectEqual(
      [version, extensionState, await opened.loadBase()],
      [1, { a: 1, b: 2 }, [one]],
      'a turn starts from the last',
    );
    await next.commit(address, epoch, 'turn-b', appendOf(two), { a: 3 }, resultOf('turn-b'));
    const after = await next.read(address);
    expectEqual([after.messages, after.extensionState], [[one, two], { a: 3 }], 'states are replaced, messages added');
    const last = await next.open(address, 'turn-c');
    const rewrite: BaseDelta = { type: 'rewrite', messages: appendOf(three).messages };
    await next.commit(address, last.epoch, 'turn-c', rewrite, {}, resultOf('turn-c'));
    expectEqual((await next.read(address)).messages, [three], 'a rewrite replaces all messages');
  });

  check('states alone are committed between turns, by the newest writer', async ({ conversations }, again) => {
    const version = await conversations.commitStates(address, 0, { counter: 1 });
    expectEqual(version > 0, true, 'a commit of states raises the state version');
    const next = (await again()).conversations;
    const read = await next.read(address);
    expectEqual([read.extensionState, read.stateVersion, read.version], [{ counter: 1 }, version, 0], 'it is durable');
    await expectRefusal(
      () => next.commitStates(address, 0, { counter: 2 }),
      ['E_FENCED'],
      'an older version is fenced',
    );
    await next.open(address, 'turn-a');
    await expectRefusal(() => next.commitStates(address, version, {}), ['E_STORE_ORDER'], 'not while a turn is open');
    expectEqual((await next.read(address)).extensionState, { counter: 1 }, 'a refused commit changes nothing');
  });

  check('conversations of two instances are separate', async ({ conversations }) => {
    const { epoch } = await conversations.open(address, 'turn-a');
    await conversations.append(address, epoch, 0, [first]);
    const other = await conversations.open(otherAddress, 'turn-a');
    expectEqual(other.log, [], 'records belong to one instance');
    await conversations.commit(otherAddress, other.epoch, 'turn-a', appendOf(one), {}, resultOf('turn-a'));
    expectEqual((await conversations.read(address)).messages, [], 'a commit changes one instance');
    expectEqual((await conversations.read(otherAddress)).messages, [one], 'a commit changes its own instance');
  });

  check('the answer of a committed turn is kept until it is acknowledged', async ({ inbox, conversations }, again) => {
    await inbox.accept(address, eventOf('asked', { replyTo: { target: 'agent', correlationId: 'call-1' } }));
    await inbox.accept(address, eventOf('told'));
    for (const entry of await inbox.pendingEntries(address)) {
      const turnId = turnOf(entry.event.id);
      const { epoch } = await conversations.open(address, turnId, entry);
      await conversations.commit(address, epoch, turnId, appendOf(one), {}, resultOf(turnId));
    }
    const next = await again();
    const kept = [{ eventId: 'asked', result: resultOf(turnOf('asked')) }];
    expectEqual(await next.answers.left(address), kept, 'only a caller that waits gets an answer');
    await next.answers.acknowledge(address, 'asked');
    await next.answers.acknowledge(address, 'unknown');
    expectEqual(await (await again()).answers.left(address), [], 'an acknowledged answer is gone');
  });

  check('a commit and the end of its input are one change', async ({ inbox, conversations }, again) => {
    await inbox.accept(address, eventOf('a'));
    await inbox.accept(address, eventOf('b'));
    const [entry] = await inbox.pendingEntries(address);
    const { epoch } = await conversations.open(address, turnOf('a'), entry);
    await conversations.append(address, epoch, 0, [first]);
    const ids = async (seams: ConversationSeams) =>
      (await seams.inbox.pendingEntries(address)).map(({ event }) => event.id);
    const next = await again();
    expectEqual(await ids(next), ['a', 'b'], 'input stays until its turn is committed');
    const resumed = await next.conversations.open(address, turnOf('a'), entry);
    await next.conversations.commit(address, resumed.epoch, turnOf('a'), appendOf(one), {}, resultOf(turnOf('a')));
    expectEqual(await ids(await again()), ['b'], 'a commit ends its input');
  });
}
