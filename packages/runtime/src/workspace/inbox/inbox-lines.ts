/**
 * The lines of `inbox.jsonl`. The first line is the head: the address of the instance, the number of the last line
 * removed before this file begins, and the ids of removed events. Each further line is an event or a cancel mark of an
 * earlier event, numbered without gaps.
 */
import type { AgentAddress, AgentEvent } from '@goondan/types';
import type { ReadLines, StoredLine } from '../lines/read-lines.ts';

export interface InboxHead extends AgentAddress {
  /** One less than the number of the first event or mark in this file. */
  readonly before: number;
  /** Ids of handled events that were removed from the file, oldest first. */
  readonly handled: readonly string[];
}

export interface InboxEntry {
  readonly seq: number;
  readonly event: AgentEvent;
  /** The reason, if the event was cancelled. Its turn still runs, but ends as cancelled. */
  readonly cancelled?: string;
}

/** An event, or the mark that cancels the event with the number `cancels`. */
export type InboxLine = InboxEntry | { readonly seq: number; readonly cancels: number; readonly reason: string };

/** Makes the head line. It has the number of the last removed line, so that the numbers in the file only grow. */
export function headText({ before, agentName, instanceKey, handled }: InboxHead): string {
  return JSON.stringify({ seq: before, agentName, instanceKey, handled });
}

export function lineText(line: InboxLine): string {
  const { seq } = line;
  return JSON.stringify(
    'event' in line ? { seq, event: line.event } : { seq, cancels: line.cancels, reason: line.reason },
  );
}

export function readHead({ fields }: StoredLine): InboxHead | undefined {
  if (!('handled' in fields)) return undefined;
  // Safe: the checksum was verified, and only headText writes `handled`.
  const { seq, ...head } = fields as unknown as AgentAddress & { seq: number; handled: string[] };
  return { before: seq, ...head };
}

/** Returns the contents of the inbox, or a string that describes the damage. */
export function readInbox(read: ReadLines): { readonly head: InboxHead; readonly lines: InboxLine[] } | string {
  if (read.damage) return read.damage;
  const [first, ...rest] = read.lines;
  const head = first && readHead(first);
  if (!head) return 'its first line is not the head of an inbox';
  const lines = readInboxLines(rest, head.before);
  return typeof lines === 'string' ? lines : { head, lines };
}

/** Returns the lines, or a string that describes the damage. `after` is one less than the number of the first line. */
export function readInboxLines(stored: readonly StoredLine[], after: number): InboxLine[] | string {
  const lines: InboxLine[] = [];
  for (const each of stored) {
    const line = readLine(each, after + lines.length);
    if (!line) return `line ${after + lines.length + 1} is missing`;
    lines.push(line);
  }
  return lines;
}

/** Returns `undefined` if the line is neither an event nor a mark, or if its number does not follow `after`. */
function readLine({ seq, fields }: StoredLine, after: number): InboxLine | undefined {
  if (seq !== after + 1) return undefined;
  // Safe: the checksum was verified, and only lineText writes `cancels`.
  if ('cancels' in fields) return { seq, ...(fields as unknown as { cancels: number; reason: string }) };
  if (!('event' in fields)) return undefined;
  // Safe: the checksum was verified, and only lineText writes `event`. Dates are strings in JSON.
  const event = fields['event'] as unknown as Omit<AgentEvent, 'createdAt'> & { createdAt: string };
  return { seq, event: { ...event, createdAt: new Date(event.createdAt) } };
}

/** Returns the events of `before` and of these lines. A cancel mark becomes the field `cancelled` of its event. */
export function entriesOf(lines: readonly InboxLine[], before: readonly InboxEntry[] = []): InboxEntry[] {
  const entries = [...before];
  for (const line of lines) {
    if ('event' in line) {
      entries.push(line);
      continue;
    }
    const index = entries.findLastIndex(({ seq }) => seq === line.cancels);
    const entry = entries[index];
    // The event is absent if it was handled and removed meanwhile.
    if (entry !== undefined) entries[index] = { ...entry, cancelled: line.reason };
  }
  return entries;
}
