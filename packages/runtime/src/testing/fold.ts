import type { Message, MessageEvent } from '@goondan/types';
import { MessageList } from '../messages/message-list.ts';

/** Applies `events` to `base`, starting anew each time. Tests compare a running conversation with this definition. */
export function fold(base: readonly Message[], events: readonly MessageEvent[]): readonly Message[] {
  const list = MessageList.of(base);
  for (const event of events) list.apply(event);
  return list.snapshot();
}
