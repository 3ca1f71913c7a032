import type { MessageEvent } from '@goondan/types';

/**
 * Returns the id of a message after an event. If the event replaced the message, returns the id of the new message.
 */
export function followReplace(id: string | undefined, event: MessageEvent): string | undefined {
  return event.type === 'replace' && event.targetId === id ? event.message.id : id;
}
