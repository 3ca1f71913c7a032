/** A message while a history is folded. Its list of replaced messages may still grow. */
import type { Message } from '@goondan/types';
import type { BlamedMessage, ReplacedMessages } from './blamed-message.ts';

export interface HistoryEntry {
  readonly put: Omit<BlamedMessage, 'message' | 'replaced'>;
  readonly message: Message;
  replaced: (Omit<ReplacedMessages, 'messages'> & { readonly entries: readonly HistoryEntry[] }) | undefined;
}

export function entryOf({ message, replaced, ...put }: BlamedMessage): HistoryEntry {
  return { put, message, replaced: replaced && { ...replaced, entries: replaced.messages.map(entryOf) } };
}

/**
 * Adds `gone` to the messages that `by` replaced, up to `limit`. Messages that `gone` itself had replaced are only
 * counted, without their contents.
 */
export function addReplaced(by: HistoryEntry, gone: HistoryEntry, limit: number): void {
  const { seq } = gone.put;
  const { count, first, last, entries } = by.replaced ?? { count: 0, first: seq, last: seq, entries: [] };
  if (gone.replaced) gone.replaced = { ...gone.replaced, entries: [] };
  by.replaced = {
    count: count + 1,
    first: Math.min(first, seq),
    last: Math.max(last, seq),
    entries: entries.length < limit ? [...entries, gone] : entries,
  };
}

export function blamedOf({ put, message, replaced }: HistoryEntry): BlamedMessage {
  if (!replaced) return { ...put, message };
  const { entries, ...numbers } = replaced;
  return { ...put, message, replaced: { ...numbers, messages: entries.map(blamedOf) } };
}
