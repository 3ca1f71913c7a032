import type { MessageEvent } from '@goondan/types';

/**
 * Returns the ids of messages after an event. If the event replaced one of the messages, its id is that of the new
 * message.
 */
export function followReplace(ids: readonly string[], event: MessageEvent): readonly string[] {
  if (event.type !== 'replace' || !ids.includes(event.targetId)) return ids;
  return ids.map((id) => (id === event.targetId ? event.message.id : id));
}
