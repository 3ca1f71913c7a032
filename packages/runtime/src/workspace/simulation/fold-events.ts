/**
 * The simulation's own implementation of events and logs. On purpose it shares no code with the store, because a
 * checker that shares code with the code under test has the same mistakes.
 */
import type { Message, MessageEvent } from '@goondan/types';
import type { TurnRecord } from '../../agent/conversation/conversation-store.ts';

export function foldEvents(base: readonly Message[], events: readonly MessageEvent[]): readonly Message[] {
  return events.reduce<readonly Message[]>((messages, event) => {
    switch (event.type) {
      case 'append':
        return [...messages, event.message];
      case 'replace':
        return messages.map((message) => (message.id === event.targetId ? event.message : message));
      case 'remove':
        return messages.filter(({ id }) => id !== event.targetId);
      case 'truncate':
        return [];
    }
  }, base);
}

/**
 * Returns the events of a log that count. The input counts at once. All other events count as soon as a record seals
 * them.
 */
export function eventsThatCount(log: readonly TurnRecord[]): readonly MessageEvent[] {
  const safe: MessageEvent[] = [];
  let unsafe: MessageEvent[] = [];
  for (const record of log) {
    if (record.type === 'message') unsafe.push(record.event);
    if (record.type === 'resumed') unsafe = [];
    if (record.type === 'step' && record.outcome === 'dropped') {
      const isKept = (place: number) => record.survivors?.some((position) => place + position === unsafe.length);
      unsafe = unsafe.filter((_, place) => isKept(place) === true);
    }
    const isInput = record.type === 'message' && record.author.kind === 'input' && record.author.again !== true;
    if (isInput || record.type === 'entered' || record.type === 'step') safe.push(...unsafe.splice(0));
  }
  return [...safe, ...unsafe];
}
