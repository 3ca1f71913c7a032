import type { ReadLines } from '../lines/read-lines.ts';
import { readEntry, readHead, type InboxEntry, type InboxHead } from './inbox-lines.ts';

export interface InboxContents {
  readonly head: InboxHead;
  readonly entries: readonly InboxEntry[];
}

/** A string says what is damaged. */
export function readInbox(read: ReadLines): InboxContents | string {
  if (read.damage) return read.damage;
  const [first, ...rest] = read.lines;
  const head = first && readHead(first);
  if (!head) return 'its first line is not the head of an inbox';
  const entries: InboxEntry[] = [];
  for (const line of rest) {
    const entry = readEntry(line, head.before + entries.length);
    if (!entry) return `event ${head.before + entries.length + 1} is missing`;
    entries.push(entry);
  }
  return { head, entries };
}
