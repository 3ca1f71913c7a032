import type { ReadLines, StoredLine } from '../lines/read-lines.ts';
import { readHead, readLine, type InboxHead, type InboxLine } from './inbox-lines.ts';

export interface InboxContents {
  readonly head: InboxHead;
  readonly lines: readonly InboxLine[];
}

/** Returns the contents, or a string that describes the damage. */
export function readInbox(read: ReadLines): InboxContents | string {
  if (read.damage) return read.damage;
  const [first, ...rest] = read.lines;
  const head = first && readHead(first);
  if (!head) return 'its first line is not the head of an inbox';
  const lines = readInboxLines(rest, head.before);
  return typeof lines === 'string' ? lines : { head, lines };
}

/** Returns the lines, or a string that describes the damage. `after`: the number before the first line. */
export function readInboxLines(stored: readonly StoredLine[], after: number): InboxLine[] | string {
  const lines: InboxLine[] = [];
  for (const each of stored) {
    const line = readLine(each, after + lines.length);
    if (!line) return `line ${after + lines.length + 1} is missing`;
    lines.push(line);
  }
  return lines;
}
