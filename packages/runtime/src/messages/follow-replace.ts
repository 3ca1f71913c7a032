import type { MessageEvent } from '@goondan/types';

/** Returns the id that a message has after an event. If the event replaced the message, it is the new id. */
export function followReplace(id: string | undefined, event: MessageEvent): string | undefined {
  return event.type === 'replace' && event.targetId === id ? event.message.id : id;
}
