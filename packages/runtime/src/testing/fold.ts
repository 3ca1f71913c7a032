import type { Message, MessageEvent } from '@goondan/types';
import { followReplace } from '../messages/follow-replace.ts';
import { MessageList } from '../messages/message-list.ts';

/**
 * Computes `base + SUM(events)` from scratch: the definition with which tests compare a running conversation. `inputId`: the id of the turn's input, which `truncate` keeps and whose id a `replace` may change.
 */
export function fold(base: readonly Message[], events: readonly MessageEvent[], inputId?: string): readonly Message[] {
  const list = MessageList.of(base);
  let input = inputId;
  for (const event of events) {
    if (list.apply(event, input)) input = followReplace(input, event);
  }
  return list.snapshot();
}
