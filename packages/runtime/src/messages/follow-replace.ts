import type { MessageEvent } from '@goondan/types';

/** Where a message is found after an event: a replaced one goes by its new id. */
export function followReplace(id: string | undefined, event: MessageEvent): string | undefined {
  return event.type === 'replace' && event.targetId === id ? event.message.id : id;
}
