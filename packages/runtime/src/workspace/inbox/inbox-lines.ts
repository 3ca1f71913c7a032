/**
 * The lines of `inbox.jsonl`: first a head (whose inbox it is, the number before its first line, the ids of events that
 * were handled and taken out), then a line for each event, and for each mark that an event before it was cancelled; all
 * of them numbered without gaps.
 */
import type { AgentAddress, AgentEvent } from '@goondan/types';
import type { StoredLine } from '../lines/read-lines.ts';

export interface InboxHead extends AgentAddress {
  /** The number before that of the first event or mark in this file. */
  readonly before: number;
  /** Oldest first. */
  readonly handled: readonly string[];
}

export interface InboxEntry {
  readonly seq: number;
  readonly event: AgentEvent;
  /** Why somebody cancelled it. Its turn is still due, and ends as cancelled. */
  readonly cancelled?: string;
}

/** Somebody cancelled an event that was accepted before. */
export interface CancelMark {
  readonly seq: number;
  /** The number of that event. */
  readonly cancels: number;
  readonly reason: string;
}

export type InboxLine = InboxEntry | CancelMark;

/** A head's line is numbered like the last line before it, so that the numbers of the file only grow. */
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
  // Sealed, and only headText writes `handled`.
  const { seq, ...head } = fields as unknown as AgentAddress & { seq: number; handled: string[] };
  return { before: seq, ...head };
}

/** `undefined` when it is neither an event nor a mark, or not the next line. */
export function readLine({ seq, fields }: StoredLine, after: number): InboxLine | undefined {
  if (seq !== after + 1) return undefined;
  // Sealed, and only lineText writes `cancels`.
  if ('cancels' in fields) return { seq, ...(fields as unknown as Omit<CancelMark, 'seq'>) };
  if (!('event' in fields)) return undefined;
  // Sealed, and only lineText writes `event`; JSON has dates as strings.
  const event = fields['event'] as unknown as Omit<AgentEvent, 'createdAt'> & { createdAt: string };
  return { seq, event: { ...event, createdAt: new Date(event.createdAt) } };
}

/** The events of these lines, after those of the lines before; a mark is told by the event it is about. */
export function entriesOf(lines: readonly InboxLine[], before: readonly InboxEntry[] = []): InboxEntry[] {
  const entries = [...before];
  for (const line of lines) {
    if ('event' in line) entries.push(line);
    else markCancelled(entries, line);
  }
  return entries;
}

/** One that was handled and taken out meanwhile needs no mark. */
function markCancelled(entries: InboxEntry[], { cancels, reason }: CancelMark): void {
  const index = entries.findLastIndex(({ seq }) => seq === cancels);
  const entry = entries[index];
  if (entry !== undefined) entries[index] = { ...entry, cancelled: reason };
}
