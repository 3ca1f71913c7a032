import type { Message, MessageEvent } from '@goondan/types';
import { followReplace } from '../messages/follow-replace.ts';
import { MessageList } from '../messages/message-list.ts';

/**
 * Applies `events` to `base`, starting anew each time. Tests compare a running conversation with this definition.
 * `inputIds` are the ids of the turn's inputs, which `truncate` keeps. A `replace` of an input may change its id.
 */
export function fold(
  base: readonly Message[],
  events: readonly MessageEvent[],
  inputIds: string | readonly string[] = [],
): readonly Message[] {
  const list = MessageList.of(base);
  let inputs = typeof inputIds === 'string' ? [inputIds] : inputIds;
  for (const event of events) {
    if (list.apply(event, inputs)) inputs = followReplace(inputs, event);
  }
  return list.snapshot();
}
