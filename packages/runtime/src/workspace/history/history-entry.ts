/** A message while a history is folded. Its list of replaced messages may still grow. */
import type { BlamedMessage, ReplacedMessages } from './blamed-message.ts';

export interface HistoryEntry extends Omit<BlamedMessage, 'replaced'> {
  replaced?: ReplacedMessages;
}

/**
 * Adds `gone` to the messages that `by` replaced, up to `limit`. Messages that `gone` itself had replaced are only
 * counted, without their contents.
 */
export function addReplaced(by: HistoryEntry, gone: HistoryEntry, limit: number): void {
  const { seq } = gone;
  const { count, first, last, messages } = by.replaced ?? { count: 0, first: seq, last: seq, messages: [] };
  if (gone.replaced) gone.replaced = { ...gone.replaced, messages: [] };
  by.replaced = {
    count: count + 1,
    first: Math.min(first, seq),
    last: Math.max(last, seq),
    messages: messages.length < limit ? [...messages, gone] : messages,
  };
}
