/**
 * `metadata.json`: the identity of an instance and, in `commit`, its last commit. Replacing this file is the only
 * commit point. Everything else is prepared before it, or can be done again from it.
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
  /** The result of the last turn. The lock and `turn.jsonl` tell whether a turn is running now. */
  readonly status: 'idle' | 'failed';
  readonly agentName: string;
  readonly instanceKey: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly commit: CommitRecord;
}

export interface CommitRecord {
  /** The number of commits; 0 before the first. */
  readonly version: number;
  /** Absent before the first commit. */
  readonly turn?: CommittedTurn;
  readonly base: BaseMark;
  /** The number of messages in the base. */
  readonly messages: number;
  /** The base before this commit, which is on disk until the commit is applied. */
  readonly previous: BaseMark;
  /** Records up to this number belong to turns that were given up without a commit. Absent when there are none. */
  readonly discarded?: number;
  /** The number of the last inbox line that a committed turn handled. */
  readonly inbox: number;
  /** Marks by extension name. */
  readonly extensions: Readonly<Record<string, FileMark>>;
  /**
   * Commits of states alone. They change neither version nor base, and are not in the archive: the next turn archives
   * their changes. Absent before the first one.
   */
  readonly statesAlone?: {
    /** The number of such commits. */
    readonly count: number;
    /** Extensions whose state they changed or removed since the last turn. */
    readonly unarchived: readonly string[];
  };
}

/** The data to finish an unfinished commit, together with the log of the turn. */
export interface CommittedTurn {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The number before its first record. */
  readonly after: number;
  /** The number of message records in its log, including void ones. */
  readonly events: number;
  /**
   * The additions to the base: numbers of message records, or messages without a record. `rewrite`: the complete new
   * base was written to `base.jsonl.next` before the commit.
   */
  readonly base: 'rewrite' | readonly (number | StoredMessage)[];
  /** `reset`: a reset of the conversation, not a turn. `fork`: the start of a forked conversation. */
  readonly result: StoredResult | 'reset' | 'fork';
  /** Extensions whose state changed or was removed. Absent when there are none. */
  readonly states?: { readonly changed: readonly string[]; readonly removed: readonly string[] };
  /** Present when the result is `fork`. */
  readonly fork?: ForkOrigin;
  /** The caller that waits for the answer. */
  readonly replyTo?: ReplyAddress;
}

/**
 * The origin of a forked conversation: an instance key of the same agent, and the number of an event. The number is
 * absent when the history was damaged.
 */
export interface ForkOrigin {
  readonly instanceKey: string;
  readonly seq?: number;
}

/** A result with its response message as the number of its record, or in full when no record has it. */
export type StoredResult = Omit<TurnResult, 'turnId' | 'responseMessage'> & {
  readonly response?: number | StoredMessage;
};

/** Returns the number before the first record of the running or next turn. */
export function logStart({ base, discarded }: CommitRecord): number {
  return discarded ?? base.seq;
}

/** Returns a number that grows with every commit. */
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

export interface BaseMark extends FileMark {
  /** The number of the last record included in the base. */
  readonly seq: number;
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
 * Returns `undefined` when the bytes are damaged.
 *
 * **Errors** — a format of another version: `E_STORE_FORMAT`.
 */
export function decodeMetadata(path: string, bytes: Uint8Array): InstanceMetadata | undefined {
  const { lines, damage, torn } = readLines(bytes);
  const isWhole = !damage && !torn && lines.length === 1;
  // Another version may use another seal, so the version is read even from bytes that fail the check.
  const fields = isWhole && lines[0] ? lines[0].fields : parseLoosely(bytes);
  const formatVersion = fields?.['formatVersion'];
  if (typeof formatVersion === 'number' && formatVersion !== FORMAT_VERSION) {
    const known = `this version reads and writes format ${FORMAT_VERSION}`;
    throw new GoondanError('E_STORE_FORMAT', `${path} is in format ${formatVersion}; ${known}`);
  }
  if (!isWhole || !fields) return undefined;
  const { seq: _, ...metadata } = fields;
  // Safe: encodeMetadata sealed it, in the format of this version.
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

/** Rejects the folder of another instance. **Errors** — `E_STORE_INSTANCE`. */
export function refuseOtherInstance(path: string, wanted: AgentAddress, found: AgentAddress): void {
  if (found.agentName === wanted.agentName && found.instanceKey === wanted.instanceKey) return;
  const names = ({ agentName, instanceKey }: AgentAddress) => `agent ${agentName}, key ${JSON.stringify(instanceKey)}`;
  throw new GoondanError('E_STORE_INSTANCE', `${path} belongs to ${names(found)}, not to ${names(wanted)}`);
}
