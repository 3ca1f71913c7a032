/** Folds committed turns into the base: the messages of the conversation. */
import type { Message } from '@goondan/types';
import type { TurnRecord } from '../../agent/conversation/conversation-store.ts';
import { reviveMessage } from '../../messages/message-text.ts';
import { MessageList } from '../../messages/message-list.ts';
import type { CommittedTurn } from './gather-turns.ts';
import { messageOf } from './log-state.ts';
import type { LoggedRecord } from './logged-record.ts';
import { voidedEvents } from './voided-events.ts';

/** Applies a turn to the base. Returns the new base, which is the same list unless the turn replaced it. */
export function foldTurn(base: MessageList, { log, commit }: Pick<CommittedTurn, 'log' | 'commit'>): MessageList {
  if (typeof commit.base !== 'object') return foldEvents(base, log);
  const { type, parts } = commit.base;
  const list = type === 'rewrite' ? new MessageList() : base;
  for (const part of parts) {
    const message = typeof part === 'number' ? messageOf(log, part) : reviveMessage(part);
    if (!message) throw new Error(`record ${JSON.stringify(part)} has no message`);
    list.apply({ type: 'append', message });
  }
  return list;
}

/** Returns true if the turn only added messages at the end of the base. */
export function isAppend({ commit: { base } }: Pick<CommittedTurn, 'commit'>): boolean {
  return base === undefined || (typeof base === 'object' && base.type === 'append');
}

/** Returns the messages that a turn appended. */
export function appendedBy(turn: Pick<CommittedTurn, 'log' | 'commit'>): readonly Message[] {
  const events = typeof turn.commit.base === 'object' ? [] : countedEvents(turn.log);
  const messages = events.flatMap(({ event }) => (event.type === 'append' ? event.message : []));
  // Nearly all turns only append, and then there is nothing to fold.
  if (events.length > 0 && messages.length === events.length) return messages;
  return foldTurn(new MessageList(), turn).snapshot();
}

/** Returns the records of the message events of a turn that count. */
export function countedEvents(log: readonly LoggedRecord[]): Extract<TurnRecord, { type: 'message' }>[] {
  const voided = voidedEvents(log);
  return log.flatMap((logged) => {
    const { record } = logged;
    return record.type !== 'message' || voided.has(logged) ? [] : [record];
  });
}

function foldEvents(base: MessageList, log: readonly LoggedRecord[]): MessageList {
  for (const { event } of countedEvents(log)) base.apply(event);
  return base;
}
