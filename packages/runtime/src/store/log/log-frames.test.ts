import { expect, test } from 'bun:test';
import { createUserMessage, type TurnResult } from '@goondan/types';
import { manualClock } from '../../testing/manual-clock.ts';
import { address, eventOf, resultOf, turnOf } from '../../testing/conformance/conformance.ts';
import { MemoryLogs } from '../../testing/conformance/memory-log.ts';
import { memoryAnswers, memoryInbox } from '../../testing/conformance/memory-seams.ts';
import { decodeReply } from '../../workspace/records/reply.ts';
import type { ConversationLog, LogFrame } from '../conversation-log.ts';
import { loggedConversations } from './logged-conversations.ts';
import { openLoggedAdmin } from './open-logged-admin.ts';

const hello = createUserMessage('hello');
const record = { type: 'message', event: { type: 'append', message: hello }, author: { kind: 'input' } } as const;
const intent = { type: 'intent', key: '0/call/a', kind: 'tool' } as const;

/** Opens a swarm whose frames are kept in a list, too. */
function openSwarm() {
  const logs = new MemoryLogs();
  logs.claim(address, 'one');
  const kept = logs.at('one');
  const frames: LogFrame[] = [];
  const log: ConversationLog = {
    ...kept,
    append: (instance, epoch, frame) => {
      frames.push(frame);
      return kept.append(instance, epoch, frame);
    },
  };
  const clock = manualClock();
  const store = loggedConversations(log, memoryAnswers(logs.swarm), { clock });
  return { frames, clock, log, ...store, inbox: memoryInbox(logs.swarm, 'one') };
}

test('a frame says which event begins, and a commit what lists and callers need', async () => {
  const { frames, clock, conversations, inbox } = openSwarm();
  const caller = { agentName: 'boss', instanceKey: 'k' };
  const asked = { source: { kind: 'agent', name: 'boss' }, replyTo: { target: 'boss', correlationId: 'a' } } as const;
  await inbox.accept(address, eventOf('a', { ...asked, callChain: [{ ...caller, instanceKey: 'outer' }, caller] }));
  const [entry] = await inbox.pendingEntries(address);
  const { epoch } = await conversations.open(address, turnOf('a'), entry);
  await conversations.append(address, epoch, 0, [record, intent]);
  await conversations.append(address, epoch, 2, [intent]);
  await clock.advance(5_000);
  // The response is in an earlier frame of the turn.
  const result: TurnResult = { ...resultOf(turnOf('a')), responseMessage: hello };
  const delta = { type: 'append', messages: [hello] } as const;
  await conversations.commit(address, epoch, turnOf('a'), delta, {}, result);
  expect(frames.map(({ seq, last, isDurable, begins }) => [seq, last, isDurable, begins])).toEqual([
    [1, 1, false, undefined],
    [2, 3, true, 1],
    [4, 4, true, undefined],
    [5, 5, true, undefined],
  ]);
  const { answer, ...facts } = frames.at(-1)?.commit ?? {};
  const updatedAt = clock.now().getTime();
  expect(facts).toEqual({ version: 1, messages: 1, deadLetters: 0, updatedAt, handled: 1 });
  expect(answer).toMatchObject({ eventId: 'a', caller });
  expect(decodeReply(JSON.parse(answer?.reply ?? ''))).toEqual({ replyTo: asked.replyTo, result });
  await clock.advance(5_000);
  await conversations.commitStates(address, 1, { counter: 1 });
  // States alone are no turn.
  expect(frames.at(-1)?.commit).toEqual({ version: 1, messages: 1, deadLetters: 0, updatedAt, handled: 1 });
});

test('a commit has the number of dead letters after it', async () => {
  const { frames, log, conversations, inbox, close } = openSwarm();
  for (const id of ['a', 'b']) {
    await inbox.accept(address, eventOf(id));
    const [entry] = await inbox.pendingEntries(address);
    const { epoch } = await conversations.open(address, turnOf(id), entry);
    const error = { code: 'E_DEAD_LETTER', message: 'it crashed' } as const;
    const result = { turnId: turnOf(id), finishReason: 'error', error } as const;
    await conversations.commit(address, epoch, turnOf(id), { type: 'append', messages: [] }, {}, result);
  }
  await close();
  await openLoggedAdmin(log).deadLetters.drop(address, 'a');
  expect(frames.flatMap(({ commit }) => commit?.deadLetters ?? [])).toEqual([1, 2, 1]);
  expect(frames.every(({ commit }) => commit?.answer === undefined)).toBe(true);
});
