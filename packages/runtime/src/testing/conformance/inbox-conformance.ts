import { createUserMessage, type Message } from '@goondan/types';
import type { TakenInput, TurnRecord } from '../../agent/conversation/conversation-store.ts';
import type { Store } from '../../store/store.ts';
import {
  address,
  checksOf,
  eventOf,
  expectEqual,
  type OpenSeams,
  otherAddress,
  type RegisterCheck,
  resultOf,
  turnOf,
} from './conformance.ts';

/** The inbox, and the conversations whose commits end its input. */
export type InboxSeams = Pick<Store, 'inbox'> & {
  readonly conversations: Pick<Store['conversations'], 'open' | 'append' | 'commit'>;
};

const AT_ONCE = 20;

/** Checks the promises of `Inbox`. */
export function inboxConformance(register: RegisterCheck, open: OpenSeams<InboxSeams>): void {
  const check = checksOf(register, open);

  check('an accepted event is durable, with all its fields', async ({ inbox }, again) => {
    const event = eventOf('a', {
      metadata: { nested: { list: [1, 'two', null] } },
      replyTo: { target: 'agent', correlationId: 'call-1' },
      callChain: [otherAddress],
    });
    const { accepted, duplicate, seq } = await inbox.accept(address, event);
    expectEqual([accepted, duplicate, typeof seq], [true, false, 'number'], 'a new event is accepted with a number');
    expectEqual(await (await again()).inbox.pendingEntries(address), [{ seq, event }], 'an acknowledged event is kept');
  });

  check('pending events are listed in the order of acceptance', async ({ inbox }, again) => {
    for (const id of ['c', 'a', 'b']) await inbox.accept(address, eventOf(id));
    const next = (await again()).inbox;
    await next.accept(address, eventOf('0'));
    const entries = await next.pendingEntries(address);
    expectEqual(
      entries.map(({ event }) => event.id),
      ['c', 'a', 'b', '0'],
      'the first accepted event is the first',
    );
    const numbers = entries.map(({ seq }) => seq);
    expectEqual(
      numbers,
      [...new Set(numbers)].toSorted((x, y) => x - y),
      'numbers grow',
    );
  });

  check('an event is accepted once', async ({ inbox }, again) => {
    const { seq } = await inbox.accept(address, eventOf('a'));
    const entry = { seq, event: eventOf('a') };
    const duplicate = { accepted: true, duplicate: true, pending: entry };
    expectEqual(await inbox.accept(address, eventOf('a')), duplicate, 'a second delivery is a duplicate');
    const next = (await again()).inbox;
    expectEqual(await next.accept(address, eventOf('a')), duplicate, 'it is one for the next process, too');
    expectEqual(await next.pendingEntries(address), [entry], 'it is listed once');
  });

  check(
    'a handled event is not accepted again, and its number is not used again',
    async ({ inbox, conversations }, again) => {
      const { seq: before = 0 } = await inbox.accept(address, eventOf('a'));
      await handle({ inbox, conversations }, 'a');
      const next = (await again()).inbox;
      expectEqual(await next.accept(address, eventOf('a')), { accepted: true, duplicate: true }, 'it was handled');
      expectEqual(await next.pendingEntries(address), [], 'a handled event is not pending');
      const { seq: after = 0 } = await next.accept(address, eventOf('b'));
      expectEqual(after > before, true, 'numbers only grow');
    },
  );

  check(
    'an event that a running turn took is handled with it, and earlier events stay pending',
    async (seams, again) => {
      const { inbox, conversations } = seams;
      for (const id of ['a', 'b', 'c']) await inbox.accept(address, eventOf(id));
      await handle({ inbox, conversations }, 'a', 'c');
      for (const each of [seams, await again()]) {
        const pending = (await each.inbox.pendingEntries(address)).map(({ event }) => event.id);
        expectEqual(pending, ['b'], 'the event between the two is pending');
        expectEqual(
          await each.inbox.accept(address, eventOf('c')),
          { accepted: true, duplicate: true },
          'it was handled',
        );
        expectEqual(await each.inbox.cancel(address, 'c', 'too late'), false, 'a taken event cannot be cancelled');
      }
      const last = await again();
      await handle(last, 'b');
      expectEqual(await last.inbox.pendingEntries(address), [], 'all events are handled');
    },
  );

  check('deliveries at the same time are each accepted once', async ({ inbox }) => {
    const ids = Array.from({ length: AT_ONCE }, (_, index) => `event-${index}`);
    const accepted = await Promise.all([...ids, ...ids].map((id) => inbox.accept(address, eventOf(id))));
    expectEqual(accepted.filter(({ duplicate }) => !duplicate).length, AT_ONCE, 'one delivery of each is new');
    const entries = await inbox.pendingEntries(address);
    expectEqual(entries.map(({ event }) => event.id).toSorted(), ids.toSorted(), 'each event is listed once');
    expectEqual(new Set(entries.map(({ seq }) => seq)).size, AT_ONCE, 'each event has its own number');
  });

  check('a cancel mark is durable', async ({ inbox }, again) => {
    await inbox.accept(address, eventOf('a'));
    const { seq } = await inbox.accept(address, eventOf('b'));
    expectEqual(await inbox.cancel(address, 'b', 'no longer wanted'), true, 'a pending event can be cancelled');
    const next = (await again()).inbox;
    const marks = (await next.pendingEntries(address)).map(({ event, cancelled }) => [event.id, cancelled]);
    expectEqual(
      marks,
      [
        ['a', undefined],
        ['b', 'no longer wanted'],
      ],
      'only the cancelled event has the mark',
    );
    const { pending } = await next.accept(address, eventOf('b'));
    expectEqual(pending, { seq, event: eventOf('b'), cancelled: 'no longer wanted' }, 'a second delivery shows it');
  });

  check('only a pending event can be cancelled', async ({ inbox, conversations }) => {
    expectEqual(await inbox.cancel(address, 'unknown', 'why not'), false, 'an unknown event');
    await inbox.accept(address, eventOf('a'));
    expectEqual(await inbox.cancel(otherAddress, 'a', 'why not'), false, 'an event of another instance');
    await handle({ inbox, conversations }, 'a');
    expectEqual(await inbox.cancel(address, 'a', 'why not'), false, 'a handled event');
  });

  check('inboxes of two instances are separate', async ({ inbox }) => {
    await inbox.accept(address, eventOf('a'));
    const { duplicate } = await inbox.accept(otherAddress, eventOf('a'));
    expectEqual(duplicate, false, 'each instance may get an event with this id');
    await inbox.cancel(otherAddress, 'a', 'only there');
    expectEqual((await inbox.pendingEntries(address))[0]?.cancelled, undefined, 'a mark belongs to one instance');
  });

  check('a listener for wake-ups can be added and removed', async ({ inbox }) => {
    const woken: unknown[] = [];
    const end = inbox.onWake((at) => void woken.push(at));
    end();
    await inbox.accept(address, eventOf('a'));
    expectEqual(woken, [], 'a removed listener is not called');
  });
}

/**
 * Runs the turn of a pending event. The process is told the event with its number. `taken`: another pending event, which
 * the turn takes while it runs.
 */
async function handle({ inbox, conversations }: InboxSeams, eventId: string, taken?: string): Promise<void> {
  const turnId = turnOf(eventId);
  const entries = await inbox.pendingEntries(address);
  const entry = entries.find(({ event }) => event.id === eventId);
  const other = entries.find(({ event }) => event.id === taken);
  const { epoch } = await conversations.open(address, turnId, entry);
  const messages = [createUserMessage(eventId), ...(other ? [createUserMessage(other.event.id)] : [])];
  const record = (message: Message, more: { readonly took?: TakenInput } = {}): TurnRecord => ({
    type: 'message',
    event: { type: 'append', message },
    author: { kind: 'input' },
    ...more,
  });
  const took = other && { took: { seq: other.seq, event: other.event, beforeStep: 1 } };
  const records = messages.map((message, index) => record(message, index === 1 ? took : {}));
  await conversations.append(address, epoch, 0, records);
  await conversations.commit(address, epoch, turnId, { type: 'append', messages }, {}, resultOf(turnId));
}
