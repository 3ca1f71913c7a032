import type { Message, MessageEvent } from '@goondan/types';
import { followReplace } from '../../messages/follow-replace.ts';
import { MessageList } from '../../messages/message-list.ts';

/**
 * `base + SUM(events)`, from scratch. The definition the running conversation is tested against, and what recovery
 * uses. `inputId` is the turn's own input: `truncate` spares it, and it follows a `replace`.
 */
export function fold(base: readonly Message[], events: readonly MessageEvent[], inputId?: string): readonly Message[] {
  const list = MessageList.of(base);
  let input = inputId;
  for (const event of events) {
    if (list.apply(event, input)) input = followReplace(input, event);
  }
  return list.snapshot();
}
