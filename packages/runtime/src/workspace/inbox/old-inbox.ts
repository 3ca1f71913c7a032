/**
 * Reads `inbox.jsonl`, which each instance had before there was one inbox log for the workspace. The first line is the
 * head: the address of the instance, the number of the last line removed before this file begins, and the ids of removed
 * events. Each further line is an event or a cancel mark of an earlier event, numbered without gaps.
 */
import type { AgentAddress, AgentEvent } from '@goondan/types';
import { type ReadLines, readLines, type StoredLine } from '../lines/read-lines.ts';
import type { InboxPayload } from './inbox-line.ts';

export interface OldInbox extends AgentAddress {
  /** One less than the number of the first line. */
  readonly before: number;
  /** The numbered lines. */
  readonly lines: readonly (readonly [seq: number, payload: InboxPayload])[];
}

/** Returns the contents of the file, or a string that describes the damage. A torn end is left out. */
export function readOldInbox(bytes: Uint8Array): OldInbox | string {
  const read: ReadLines = readLines(bytes);
  if (read.damage) return read.damage;
  const [first, ...rest] = read.lines;
  const head = first && readHead(first);
  if (!head) return 'its first line is not the head of an inbox';
  const lines: [number, InboxPayload][] = [];
  for (const { seq, fields } of rest) {
    const payload = seq === head.before + lines.length + 1 ? readPayload(fields) : undefined;
    if (!payload) return `line ${head.before + lines.length + 1} is missing`;
    lines.push([seq, payload]);
  }
  return { ...head, lines };
}

/** Reads the address and the first number from the first line. */
export function readHead({ seq, fields }: StoredLine): Omit<OldInbox, 'lines'> | undefined {
  if (!('handled' in fields)) return undefined;
  // Safe: the checksum was verified, and only the head has `handled`.
  const { agentName, instanceKey } = fields as unknown as AgentAddress;
  return { before: seq, agentName, instanceKey };
}

function readPayload(fields: StoredLine['fields']): InboxPayload | undefined {
  // Safe: the checksum was verified, and only cancel marks have `cancels`.
  if ('cancels' in fields) return fields as unknown as { cancels: number; reason: string };
  if (!('event' in fields)) return undefined;
  // Safe: the checksum was verified, and only events have `event`. Dates are strings in JSON.
  const event = fields['event'] as unknown as Omit<AgentEvent, 'createdAt'> & { createdAt: string };
  return { event: { ...event, createdAt: new Date(event.createdAt) } };
}
