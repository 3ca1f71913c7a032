/**
 * `metadata.json`: the identity of an instance, and the checkpoint: the state of the instance at one place of its log.
 * The frames after that place are the rest of the state. The file is derived from the log, and written between turns. An
 * instance that was never closed may have no `metadata.json`: then its state is that of its whole log.
 */
import { type AgentAddress, GoondanError, type TurnResult } from '@goondan/types';
import { checksum } from '../lines/checksum.ts';
import type { QueueEntry } from '../lines/durable-queue.ts';
import { readLines } from '../lines/read-lines.ts';
import { seal } from '../lines/seal-lines.ts';
import type { StoredMessage } from '../../messages/message-text.ts';
import type { Spending } from '../../usage/spending.ts';

export interface InstanceMetadata {
  readonly agentName: string;
  readonly instanceKey: string;
  readonly createdAt: string;
  readonly checkpoint: Checkpoint;
}

export interface Checkpoint {
  /** The epoch of the last owner that closed the instance with a checkpoint, and so wrote nothing after it; 0 if none did. */
  readonly closedBy: number;
  /** The place in the log: the number of the segment, from 1, and the offset after the last frame that is included. */
  readonly segment: number;
  readonly offset: number;
  /** The number of the last record or commit that is included. */
  readonly seq: number;
  /** The number of commits of turns, resets and forks. */
  readonly version: number;
  /** The result of the last turn. */
  readonly status: 'idle' | 'failed';
  /** The time of the last commit of a turn, reset or fork; before the first one, that of the creation. */
  readonly updatedAt: number;
  readonly base: StoredBase;
  /** The number of messages in the base. */
  readonly messages: number;
  /** The number of the last inbox line that a committed turn handled. */
  readonly inbox: number;
  /** The numbers above `inbox` of lines that committed turns have taken. Absent when there are none. */
  readonly taken?: readonly number[];
  /** The marks of the state files, by extension name. */
  readonly extensions: Readonly<Record<string, FileMark>>;
  /** Commits of states alone: their number, and the extensions that they changed since the last turn. */
  readonly statesAlone: { readonly count: number; readonly unarchived: readonly string[] };
  /** Answers that were not fetched yet, and the keys of those that were fetched last. */
  readonly answers: readonly QueueEntry[];
  readonly answersRemoved: readonly string[];
  readonly letters: readonly QueueEntry[];
  /** The model calls of all committed turns; absent when there are none. */
  readonly spent?: readonly Spending[];
}

/**
 * The origin of a forked conversation: the instance key of the original, which has the same agent, and the number of an
 * event. The number is absent when the original's history was damaged.
 */
export interface ForkOrigin {
  readonly instanceKey: string;
  readonly seq?: number;
}

/** A result that stores its response message as the number of a record, or in full when no record contains it. */
export type StoredResult = Omit<TurnResult, 'turnId' | 'responseMessage'> & {
  readonly response?: number | StoredMessage;
};

export interface FileMark {
  readonly bytes: number;
  readonly crc: number;
}

/** The mark of `base.jsonl`, or of `base.jsonl.next` until it is renamed. */
export interface StoredBase extends FileMark {
  /** The text of a short base, which has no file. */
  readonly text?: string;
}

export function matches(bytes: Uint8Array, mark: FileMark): boolean {
  return bytes.length === mark.bytes && checksum(bytes) === mark.crc;
}

/** Returns the checkpoint of a log that has only its `head`, which ends at this offset. */
export function firstCheckpoint(offset: number, createdAt: string): Checkpoint {
  return {
    closedBy: 0,
    segment: 1,
    offset,
    seq: 1,
    version: 0,
    status: 'idle',
    updatedAt: Date.parse(createdAt),
    base: { bytes: 0, crc: 0 },
    messages: 0,
    inbox: 0,
    extensions: {},
    statesAlone: { count: 0, unarchived: [] },
    answers: [],
    answersRemoved: [],
    letters: [],
  };
}

export function encodeMetadata(metadata: InstanceMetadata): Uint8Array {
  return Buffer.from(seal(JSON.stringify({ seq: metadata.checkpoint.version, ...metadata })));
}

/** Reads the metadata from the bytes of the file. Returns `undefined` when the bytes are damaged. */
export function decodeMetadata(bytes: Uint8Array): InstanceMetadata | undefined {
  const { lines, damage, torn } = readLines(bytes);
  const [line] = lines;
  if (damage !== undefined || torn || !line || lines.length > 1) return undefined;
  const { seq: _, ...metadata } = line.fields;
  // Safe: the checksum was verified, and encodeMetadata wrote the line.
  return metadata as unknown as InstanceMetadata;
}

/** Throws if the folder belongs to another instance. **Errors** — `E_STORE_INSTANCE`. */
export function refuseOtherInstance(path: string, wanted: AgentAddress, found: AgentAddress): void {
  if (found.agentName === wanted.agentName && found.instanceKey === wanted.instanceKey) return;
  const names = ({ agentName, instanceKey }: AgentAddress) => `agent ${agentName}, key ${JSON.stringify(instanceKey)}`;
  throw new GoondanError('E_STORE_INSTANCE', `${path} belongs to ${names(found)}, not to ${names(wanted)}`);
}
