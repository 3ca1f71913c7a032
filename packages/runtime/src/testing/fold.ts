import type { Message, MessageEvent } from '@goondan/types';
import { followReplace } from '../messages/follow-replace.ts';
import { MessageList } from '../messages/message-list.ts';

/**
 * Applies `events` to `base`, starting anew each time. Tests compare a running conversation with this definition.
 * `inputId` is the id of the turn's input, which `truncate` keeps. A `replace` of the input may change that id.
 */
export function fold(base: readonly Message[], events: readonly MessageEvent[], inputId?: string): readonly Message[] {
  const list = MessageList.of(base);
  let input = inputId;
  for (const event of events) {
    if (list.apply(event, input)) input = followReplace(input, event);
  }
  return list.snapshot();
}
