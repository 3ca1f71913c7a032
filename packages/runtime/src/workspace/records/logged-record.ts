/** The records of a turn, as they are in a frame of the log. */
import type { AgentEvent, MessageEvent } from '@goondan/types';
import type { EventAuthor, TakenInput, TurnRecord } from '../../agent/conversation/conversation-store.ts';
import { encodeMessage, reviveEvent, type Stored, type StoredMessageEvent } from '../../messages/message-text.ts';

export interface LoggedRecord {
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly record: TurnRecord;
  /** The original event of a message that was copied by a fork. */
  readonly origin?: EventOrigin;
}

/** Gives records their numbers, from `seq` on. */
export function numberRecords(records: readonly TurnRecord[], seq: number, at = 0): LoggedRecord[] {
  return records.map((record, index) => ({ seq: seq + index, at, record }));
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

/** A message record as JSON. `at`: the time of the record, if it is not that of its frame. */
export interface StoredMessageRecord {
  readonly type: 'message';
  readonly at?: number;
  readonly step?: string;
  readonly author: EventAuthor;
  readonly event: StoredMessageEvent;
  readonly took?: StoredTaken;
  readonly origin?: EventOrigin;
}

/** A taken input as JSON. */
export type StoredTaken = Omit<TakenInput, 'event'> & { readonly event: Stored<AgentEvent> };

/** A record as JSON. Only message records contain a date. */
export type StoredRecord = StoredMessageRecord | Exclude<TurnRecord, { type: 'message' }>;

/** Makes the JSON text of a record. `more`: fields of a record that was copied by a fork. */
export function encodeRecord(record: TurnRecord, more: Pick<StoredMessageRecord, 'at' | 'origin'> = {}): string {
  if (record.type !== 'message') return JSON.stringify(record);
  const { type, event, author, stepId: step, took } = record;
  const head = JSON.stringify({ type, step, author, took, ...more });
  return `${head.slice(0, -1)},"event":${encodeEvent(event)}}`;
}

/** Makes the JSON text of an event. */
export function encodeEvent(event: MessageEvent): string {
  if (!('message' in event)) return JSON.stringify(event);
  const { message, ...head } = event;
  return `${JSON.stringify(head).slice(0, -1)},"message":${encodeMessage(message)}}`;
}

/** Reads a record. `seq`: its number. `at`: the time of its frame. */
export function readRecord(stored: StoredRecord, seq: number, at: number): LoggedRecord {
  if (stored.type !== 'message') return { seq, at, record: stored };
  const { author, event, step, took, origin } = stored;
  const record = {
    type: 'message',
    event: reviveEvent(event),
    author,
    ...(step === undefined ? {} : { stepId: step }),
    ...(took && { took: { ...took, event: { ...took.event, createdAt: new Date(took.event.createdAt) } } }),
  } as const;
  return { seq, at: stored.at ?? at, record, ...(origin && { origin }) };
}
