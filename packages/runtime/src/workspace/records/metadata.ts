/**
 * `metadata.json`: the identity of an instance and, in `commit`, its last commit. Replacing this file is the only
 * commit point. All other files are prepared before it, or can be rebuilt from it.
 */
import {
  type AgentAddress,
  GoondanError,
  type JsonObject,
  type JsonValue,
  type ReplyAddress,
  type TurnResult,
} from '@goondan/types';
import { checksum } from '../lines/checksum.ts';
import { readLines } from '../lines/read-lines.ts';
import { seal } from '../lines/seal-lines.ts';
import type { StoredMessage } from '../../messages/message-text.ts';

export const FORMAT_VERSION = 1;

export interface InstanceMetadata {
  readonly formatVersion: number;
  /** The result of the last turn. To find out whether a turn is running now, read the lock and `turn.jsonl`. */
  readonly status: 'idle' | 'failed';
  readonly agentName: string;
  readonly instanceKey: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly commit: CommitRecord;
}

export interface CommitRecord {
  /** The number of commits so far; 0 before the first. */
  readonly version: number;
  /** The last committed turn, reset or fork. Absent before the first commit. */
  readonly turn?: CommittedTurn;
  /** The mark of the base, with the number of the last record that the base includes. */
  readonly base: FileMark & { readonly seq: number };
  /** The number of messages in the base. */
  readonly messages: number;
  /** The mark of the base before this commit. The earlier base stays on disk until the commit is applied. */
  readonly previous: CommitRecord['base'];
  /**
   * Records up to this number belong to turns that were given up without a commit. Absent when no turn was given up.
   */
  readonly discarded?: number;
  /** The number of the last inbox line that a committed turn handled. */
  readonly inbox: number;
  /** The marks of the state files, by extension name. */
  readonly extensions: Readonly<Record<string, FileMark>>;
  /**
   * Commits of states alone. They change neither the version nor the base, and are not in the archive; the next turn
   * archives their changes. Absent before the first such commit.
   */
  readonly statesAlone?: {
    /** The number of such commits. */
    readonly count: number;
    /** Extensions whose state was changed or removed by such commits since the last turn. */
    readonly unarchived: readonly string[];
  };
}

/** The data that recovery needs, together with the log of the turn, to finish an unfinished commit. */
export interface CommittedTurn {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** One less than the number of the turn's first record. */
  readonly after: number;
  /** The number of message records in the turn's log, including void ones. */
  readonly events: number;
  /**
   * The messages added to the base: the numbers of their records, or messages without a record. `rewrite` means that
   * the complete new base was written to `base.jsonl.next` before the commit.
   */
  readonly base: 'rewrite' | readonly (number | StoredMessage)[];
  /** `reset` marks a reset of the conversation, and `fork` the start of a forked conversation; neither is a turn. */
  readonly result: StoredResult | 'reset' | 'fork';
  /** Extensions whose state changed or was removed. Absent when no state changed. */
  readonly states?: { readonly changed: readonly string[]; readonly removed: readonly string[] };
  /** Present when the result is `fork`. */
  readonly fork?: ForkOrigin;
  /** The caller that waits for the answer. */
  readonly replyTo?: ReplyAddress;
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

/** Returns one less than the number of the first record of the running turn, or of the next turn if none is running. */
export function logStart({ base, discarded }: CommitRecord): number {
  return discarded ?? base.seq;
}

/** Returns a number that increases with every commit, including commits of states alone. */
export function stateVersionOf({ version, statesAlone }: CommitRecord): number {
  return version + (statesAlone?.count ?? 0);
}

export interface FileMark {
  readonly bytes: number;
  readonly crc: number;
}

export function matches(bytes: Uint8Array, mark: FileMark): boolean {
  return bytes.length === mark.bytes && checksum(bytes) === mark.crc;
}

export function newMetadata({ agentName, instanceKey }: AgentAddress, now: Date): InstanceMetadata {
  const empty = { bytes: 0, crc: 0, seq: 0 };
  return {
    formatVersion: FORMAT_VERSION,
    status: 'idle',
    agentName,
    instanceKey,
    createdAt: now.toISOString(),
    updatedAt: now.toISOString(),
    commit: { version: 0, base: empty, messages: 0, previous: empty, inbox: 0, extensions: {} },
  };
}

export function encodeMetadata(metadata: InstanceMetadata): Uint8Array {
  return Buffer.from(seal(JSON.stringify({ seq: metadata.commit.version, ...metadata })));
}

/**
 * Reads the metadata from the bytes of the file. Returns `undefined` when the bytes are damaged.
 *
 * **Errors** — `E_STORE_FORMAT` when another version wrote the format.
 */
export function decodeMetadata(path: string, bytes: Uint8Array): InstanceMetadata | undefined {
  const { lines, damage, torn } = readLines(bytes);
  const isWhole = !damage && !torn && lines.length === 1;
  // Another version may seal lines differently, so the version is read even from bytes whose checksum does not match.
  const fields = isWhole && lines[0] ? lines[0].fields : parseLoosely(bytes);
  const formatVersion = fields?.['formatVersion'];
  if (typeof formatVersion === 'number' && formatVersion !== FORMAT_VERSION) {
    const known = `this version reads and writes format ${FORMAT_VERSION}`;
    throw new GoondanError('E_STORE_FORMAT', `${path} is in format ${formatVersion}; ${known}`);
  }
  if (!isWhole || !fields) return undefined;
  const { seq: _, ...metadata } = fields;
  // Safe: the checksum was verified, and encodeMetadata wrote it in this version's format.
  return metadata as unknown as InstanceMetadata;
}

function parseLoosely(bytes: Uint8Array): JsonObject | undefined {
  try {
    const parsed = JSON.parse(new TextDecoder().decode(bytes)) as JsonValue;
    return parsed && typeof parsed === 'object' && !Array.isArray(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** Throws if the folder belongs to another instance. **Errors** — `E_STORE_INSTANCE`. */
export function refuseOtherInstance(path: string, wanted: AgentAddress, found: AgentAddress): void {
  if (found.agentName === wanted.agentName && found.instanceKey === wanted.instanceKey) return;
  const names = ({ agentName, instanceKey }: AgentAddress) => `agent ${agentName}, key ${JSON.stringify(instanceKey)}`;
  throw new GoondanError('E_STORE_INSTANCE', `${path} belongs to ${names(found)}, not to ${names(wanted)}`);
}
