/**
 * The simulation's own idea of what events and logs mean, written apart from the store's on purpose: a checker that
 * shares code with what it checks shares its mistakes.
 */
import type { Message, MessageEvent } from '@goondan/types';
import type { TurnRecord } from '../../agent/conversation/conversation-store.ts';

/** `ownInput`: the id of the message that `truncate` leaves. */
export function foldEvents(
  base: readonly Message[],
  events: readonly MessageEvent[],
  ownInput: string,
): readonly Message[] {
  return events.reduce<readonly Message[]>((messages, event) => {
    switch (event.type) {
      case 'append':
        return [...messages, event.message];
      case 'replace':
        return messages.map((message) => (message.id === event.targetId ? event.message : message));
      case 'remove':
        return messages.filter(({ id }) => id !== event.targetId);
      case 'truncate':
        return messages.filter(({ id }) => id === ownInput);
    }
  }, base);
}

/** The events of a log that count. */
export function eventsThatCount(log: readonly TurnRecord[]): readonly MessageEvent[] {
  let safe: MessageEvent[] = [];
  let unsafe: { event: MessageEvent; stepId: string | undefined }[] = [];
  for (const record of log) {
    if (record.type === 'message') unsafe.push({ event: record.event, stepId: record.stepId });
    if (record.type === 'resumed') unsafe = [];
    if (record.type === 'entered' || record.type === 'step') {
      const dropped = record.type === 'step' && record.outcome === 'dropped' ? record.stepId : undefined;
      const kept = dropped === undefined ? unsafe : unsafe.filter(({ stepId }) => stepId !== dropped);
      safe = [...safe, ...kept.map(({ event }) => event)];
      unsafe = [];
    }
  }
  return [...safe, ...unsafe.map(({ event }) => event)];
}
