import type { ReadLines, StoredLine } from '../lines/read-lines.ts';
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
  const entries = readEntries(rest, head.before);
  return typeof entries === 'string' ? entries : { head, entries };
}

/** `after`: the number before that of the first. A string says what is damaged. */
export function readEntries(lines: readonly StoredLine[], after: number): InboxEntry[] | string {
  const entries: InboxEntry[] = [];
  for (const line of lines) {
    const entry = readEntry(line, after + entries.length);
    if (!entry) return `event ${after + entries.length + 1} is missing`;
    entries.push(entry);
  }
  return entries;
}
