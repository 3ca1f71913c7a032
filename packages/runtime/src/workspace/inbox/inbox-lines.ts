/**
 * The lines of `inbox.jsonl`: first a head (whose inbox it is, the number before its first event, the ids of events
 * that were handled and taken out), then an event a line, numbered without gaps.
 */
import type { AgentAddress, AgentEvent } from '@goondan/types';
import type { StoredLine } from '../lines/read-lines.ts';

export interface InboxHead extends AgentAddress {
  /** The number before that of the first event in this file. */
  readonly before: number;
  /** Oldest first. */
  readonly handled: readonly string[];
}

export interface InboxEntry {
  readonly seq: number;
  readonly event: AgentEvent;
}

/** A head's line is numbered like the last event before it, so that the numbers of the file only grow. */
export function headText({ before, agentName, instanceKey, handled }: InboxHead): string {
  return JSON.stringify({ seq: before, agentName, instanceKey, handled });
}

export function entryText({ seq, event }: InboxEntry): string {
  return JSON.stringify({ seq, event });
}

export function readHead({ fields }: StoredLine): InboxHead | undefined {
  if (!('handled' in fields)) return undefined;
  // Sealed, and only headText writes `handled`.
  const { seq, ...head } = fields as unknown as AgentAddress & { seq: number; handled: string[] };
  return { before: seq, ...head };
}

/** `undefined` when it is not an event, or not the next one. */
export function readEntry({ seq, fields }: StoredLine, after: number): InboxEntry | undefined {
  if (seq !== after + 1 || !('event' in fields)) return undefined;
  // Sealed, and only entryText writes `event`; JSON has dates as strings.
  const event = fields['event'] as unknown as Omit<AgentEvent, 'createdAt'> & { createdAt: string };
  return { seq, event: { ...event, createdAt: new Date(event.createdAt) } };
}
