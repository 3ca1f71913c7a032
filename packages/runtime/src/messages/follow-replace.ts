import type { MessageEvent } from '@goondan/types';

/** Returns the id of a message after an event: a replaced message has its new id. */
export function followReplace(id: string | undefined, event: MessageEvent): string | undefined {
  return event.type === 'replace' && event.targetId === id ? event.message.id : id;
}
