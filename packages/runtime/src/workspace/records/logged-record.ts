/**
 * The records of a running turn as lines of two files: message records in `events.jsonl`, all others in `turn.jsonl`.
 * Both files share one sequence of numbers, which continues from turn to turn, so that they can be merged in order.
 */
import type { JsonObject, MessageEvent } from '@goondan/types';
import type { TurnRecord } from '../../agent/conversation/conversation-store.ts';
import type { StoredLine } from '../lines/read-lines.ts';
import { encodeMessage, reviveEvent, type StoredMessageEvent } from '../../messages/message-text.ts';

export interface LoggedRecord {
  readonly seq: number;
  readonly turnId: string | undefined;
  readonly record: TurnRecord;
  /** The number of the first record that was appended in the same call. */
  readonly with: number;
  /**
   * The text of the line, before it is sealed. Empty for a record that was read from disk, unless it is a message
   * record.
   */
  readonly text: string;
  /** The message of the record, in the form that the base stores. */
  readonly message?: { readonly id: string; readonly text: string } | undefined;
}

/** The event that first added a message to a conversation, before a fork. */
export interface EventOrigin {
  readonly instanceKey: string;
  readonly turnId: string;
  /** The number of that event, as `gdn history` shows it for the original conversation. */
  readonly seq: number;
  /** The messages that this message had replaced in the original conversation. */
  readonly replaced?: { readonly count: number; readonly first: number; readonly last: number };
}

/** The position of a record in the log of its turn. */
export interface RecordPlace {
  readonly seq: number;
  readonly with: number;
  readonly turnId: string;
  readonly isFirst: boolean;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/**
 * Makes the line of a record. Every message line names its turn. Any other line names its turn only if it is the first
 * line of the turn.
 */
export function logRecord(record: TurnRecord, place: RecordPlace): LoggedRecord {
  const { seq, turnId, isFirst, at } = place;
  const together = place.with === seq ? {} : { with: place.with };
  const logged = { seq, turnId, with: place.with, record };
  if (record.type !== 'message') {
    return { ...logged, text: JSON.stringify({ seq, ...together, ...(isFirst && { turn: turnId }), ...record }) };
  }
  const { event, author, stepId } = record;
  const message = 'message' in event ? { id: event.message.id, text: encodeMessage(event.message) } : undefined;
  const head = JSON.stringify({ seq, ...together, turn: turnId, at, step: stepId, author });
  const text = `${head.slice(0, -1)},"event":${eventText(event, message?.text)}}`;
  return { ...logged, text, ...(message && { message }) };
}

function eventText(event: MessageEvent, message: string | undefined): string {
  if (message === undefined) return JSON.stringify(event);
  const { message: _, ...head } = event as Extract<MessageEvent, { message: unknown }>;
  return `${JSON.stringify(head).slice(0, -1)},"message":${message}}`;
}

export function readEventLine(line: StoredLine): LoggedRecord {
  // Safe: the checksum was verified, and only logRecord writes these lines.
  const stored = line.fields as unknown as StoredEventLine;
  const event = reviveEvent(stored.event);
  const step = stored.step === undefined ? {} : { stepId: stored.step };
  return {
    seq: line.seq,
    turnId: stored.turn,
    with: stored.with ?? line.seq,
    record: { type: 'message', event, author: stored.author, ...step },
    // Computed on demand, because only the completion of a commit needs the text.
    get text() {
      return JSON.stringify(line.fields);
    },
    get message() {
      return 'message' in event ? { id: event.message.id, text: encodeMessage(event.message) } : undefined;
    },
  };
}

export function readTurnLine(line: StoredLine): LoggedRecord {
  const {
    seq,
    turn,
    with: together = seq,
    ...record
  } = line.fields as JsonObject & {
    seq: number;
    turn?: string;
    with?: number;
  };
  // Safe: the checksum was verified, and only logRecord writes these lines, so the remaining fields are the record.
  // Only `message` records contain a date.
  return { seq, turnId: turn, with: together, record: record as unknown as TurnRecord, text: '' };
}

export interface StoredEventLine {
  readonly seq: number;
  readonly with?: number;
  readonly turn: string;
  readonly at: number;
  readonly step?: string;
  readonly author: Extract<TurnRecord, { type: 'message' }>['author'];
  readonly event: StoredMessageEvent;
  /** The original event of a message that was copied by a fork. Present only in an archive that begins with a fork. */
  readonly origin?: EventOrigin;
}
