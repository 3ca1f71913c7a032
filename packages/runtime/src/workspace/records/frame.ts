/**
 * A frame is one line of the log of an instance, and one write. The records of a frame are on disk together or not at
 * all. A frame with `commit` is a commit point.
 *
 * `{"crc":"…","seq":12,"durable":9,"turn":"…","at":…,"records":[…],"commit":{…}}`
 *
 * The checksum is the first field and covers the rest of the line, so a frame is checked before it is parsed.
 */
import type { JsonObject, JsonValue, ReplyAddress, TokenUsage } from '@goondan/types';
import { checksum } from '../lines/checksum.ts';
import type { StoredMessage } from '../../messages/message-text.ts';
import type { Spending } from '../../usage/spending.ts';
import type { StoredRecord } from './logged-record.ts';
import type { ShortRecord } from './short-record.ts';
import type { FileMark, ForkOrigin, StoredResult } from './metadata.ts';

export interface Frame {
  /** The number of the first record. All records and commits of an instance share one sequence of numbers. */
  readonly seq: number;
  /** Everything up to this number was durable when the frame was written. */
  readonly durable: number;
  /** The turn of the records. Absent for a commit that is not part of a turn; its line has `null`. */
  readonly turn?: string;
  /** The number of the turn's event in the inbox, if the event came through it. Only the first frame of a turn has it. */
  readonly input?: number;
  /** The node that runs the turn from this frame on, if several nodes share the log. */
  readonly node?: TurnNode;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly records?: readonly (StoredRecord | ShortRecord)[];
  readonly commit?: CommitEntry;
  /** The identity of the instance. Only the first frame of a segment has it. */
  readonly head?: SegmentHead;
}

/** A node that ran a turn. */
export interface TurnNode {
  readonly name: string;
  /** The id of the node's local folder, which has its scratch folders. A node on another machine has another id. */
  readonly machine: string;
}

export interface SegmentHead {
  readonly agentName: string;
  readonly instanceKey: string;
  readonly createdAt: string;
}

/** A change that a frame commits. A frame with a turn commits that turn; `version` and `result` are then present. */
export interface CommitEntry {
  /** The number of commits of turns, resets and forks so far. */
  readonly version?: number;
  /** `reset` marks a reset of the conversation, and `fork` the start of a forked conversation; neither is a turn. */
  readonly result?: StoredResult | 'reset' | 'fork';
  /** Present when the result is `fork`. */
  readonly fork?: ForkOrigin;
  /** The model calls of the turn; for a reset or a drop, those of the interrupted turn that it ends. */
  readonly spent?: readonly Spending[];
  /** The tokens of the agents that the turn called. */
  readonly called?: TokenUsage;
  /** The number of completed steps; absent when it is 0. */
  readonly steps?: number;
  /** The number of messages in the base after this commit. */
  readonly messages?: number;
  /**
   * The change to the base. Absent when the turn only appended the messages that its events leave. `rewrite`: the events
   * change the base. An object has messages that the events do not explain.
   */
  readonly base?: 'rewrite' | { readonly type: 'append' | 'rewrite'; readonly parts: readonly BasePart[] };
  /** The number of the last inbox line that was handled. All lines before it are handled, too. */
  readonly inbox?: number;
  /** The events that the turn has taken while it ran, with their numbers. Events before them may still be pending. */
  readonly taken?: readonly TakenEvent[];
  readonly states?: StateChanges;
  /** The caller that waits for the answer. */
  readonly replyTo?: ReplyAddress;
  /** The dead letter of the event that the turn gave up. */
  readonly letter?: JsonValue;
  /** The dead letters of the events that the given up turn had taken. */
  readonly lettersOfTaken?: readonly JsonValue[];
  readonly answers?: {
    readonly added?: readonly { key: string; value: JsonValue }[];
    readonly removed?: readonly string[];
  };
  /** The ids of events whose dead letters were removed. */
  readonly lettersRemoved?: readonly string[];
  /** The interrupted turn whose records do not count any more. */
  readonly drops?: string;
}

/** The number of an event in the inbox, and its id. */
export type TakenEvent = readonly [seq: number, eventId: string];

/** The number of the record that has the message, or the message. */
export type BasePart = number | StoredMessage;

/** The changes to the states of extensions, by extension name. */
export interface StateChanges {
  readonly set: Readonly<Record<string, JsonValue>>;
  /** Marks of states that are too long for the log. They were written to their files before the commit. */
  readonly long: Readonly<Record<string, FileMark>>;
  readonly removed: readonly string[];
}

const SEAL_LENGTH = '{"crc":"00000000",'.length;
const SEAL = /^\{"crc":"([0-9a-f]{8})",$/;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Returns how many numbers a frame uses. The head of a segment has a number if nothing else in its frame has one. */
export function countNumbers({ records, commit, head }: Pick<Frame, 'records' | 'commit' | 'head'>): number {
  const count = (records?.length ?? 0) + (commit ? 1 : 0);
  return count === 0 && head ? 1 : count;
}

/** Makes the bytes of a frame: its line, with the line break. */
export function encodeFrame(frame: Omit<Frame, 'records'>, records: readonly string[] = []): Uint8Array {
  return encoder.encode(`${frameLine(frame, records)}\n`);
}

/** Makes the line of a frame. `records`: the JSON texts of the records, which are made only once. */
export function frameLine(frame: Omit<Frame, 'records'>, records: readonly string[] = []): string {
  const { seq, durable, turn = null, input, node, at, head } = frame;
  const numbers = `"seq":${seq},"durable":${durable}`;
  const start = `${numbers}${field('turn', turn)}${field('input', input)}${field('node', node)},"at":${at}`;
  const list = records.length > 0 ? `,"records":[${records.join(',')}]` : '';
  const body = `${start}${field('head', head)}${list}${field('commit', frame.commit)}}`;
  return `{"crc":"${checksum(body).toString(16).padStart(8, '0')}",${body}`;
}

function field(name: string, value: unknown): string {
  return value === undefined ? '' : `,"${name}":${JSON.stringify(value)}`;
}

/** Reads the bytes of a line, without its line break. Returns `undefined` when the frame is not intact. */
export function decodeFrame(line: Uint8Array): Frame | undefined {
  if (line.length <= SEAL_LENGTH) return undefined;
  const seal = SEAL.exec(decoder.decode(line.subarray(0, SEAL_LENGTH)));
  const body = line.subarray(SEAL_LENGTH);
  if (!seal || checksum(body) !== Number.parseInt(seal[1] ?? '', 16)) return undefined;
  try {
    const parsed = JSON.parse(`{${decoder.decode(body)}`) as JsonObject;
    const isFrame = typeof parsed['seq'] === 'number' && typeof parsed['durable'] === 'number';
    if (parsed['turn'] === null) delete parsed['turn'];
    // Safe: the checksum proves that encodeFrame wrote these bytes.
    return isFrame ? (parsed as unknown as Frame) : undefined;
  } catch {
    return undefined;
  }
}
