/**
 * `metadata.json`: what an instance is and, in `commit`, the last commit. Replacing this file is the only commit point:
 * everything else is prepared before it or can be done again from what it names.
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
  /** How the last turn ended. Whether one is running now, the lock and `turn.jsonl` know. */
  readonly status: 'idle' | 'failed';
  readonly agentName: string;
  readonly instanceKey: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly commit: CommitRecord;
}

export interface CommitRecord {
  /** Counts commits; 0 before the first. */
  readonly version: number;
  /** Absent before the first commit. */
  readonly turn?: CommittedTurn;
  readonly base: BaseMark;
  /** How many messages the base has. */
  readonly messages: number;
  /** The base that this commit started from: what is there until the commit is applied. */
  readonly previous: BaseMark;
  /** Records up to this number are of turns that were given up without a commit. Absent when there are none. */
  readonly discarded?: number;
  /** The number of the last inbox line that a committed turn handled. */
  readonly inbox: number;
  /** By extension name. */
  readonly extensions: Readonly<Record<string, FileMark>>;
  /** Commits of states alone. Absent before the first. */
  readonly statesAlone?: StatesAlone;
}

/** They change neither version nor base, and are not in the archive: the next turn puts there what they changed. */
export interface StatesAlone {
  /** Counts them. */
  readonly count: number;
  /** Names of the extensions whose state they changed or took away since the last turn. */
  readonly unarchived: readonly string[];
}

/** Enough to finish applying the commit, together with the turn's log. */
export interface CommittedTurn {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The number before that of its first record. */
  readonly after: number;
  /** How many message records its log has, those that do not count among them. */
  readonly events: number;
  /**
   * What the base gained: message records by number, or messages that no record brought. `rewrite`: the whole new base
   * was written to `base.jsonl.next` before the commit.
   */
  readonly base: 'rewrite' | readonly (number | StoredMessage)[];
  /** `reset`: it was no turn, but the conversation was started anew. `fork`: it was begun with what another one had. */
  readonly result: StoredResult | 'reset' | 'fork';
  /** Names of the extensions whose state became another one, or went. Absent when none did. */
  readonly states?: { readonly changed: readonly string[]; readonly removed: readonly string[] };
  /** Present when the result is `fork`. */
  readonly fork?: ForkOrigin;
  /** Somebody waits for the answer. */
  readonly replyTo?: ReplyAddress;
}

/**
 * The origin of a forked conversation: that of this key of the same agent, as it was after this event. Its number is absent
 * when the history was damaged.
 */
export interface ForkOrigin {
  readonly instanceKey: string;
  readonly seq?: number;
}

/** The response message by the number of the record that brought it, or itself when none did. */
export type StoredResult = Omit<TurnResult, 'turnId' | 'responseMessage'> & {
  readonly response?: number | StoredMessage;
};

/** The number before that of the first record of the turn that comes next, or is running. */
export function logStart({ base, discarded }: CommitRecord): number {
  return discarded ?? base.seq;
}

/** Grows with every commit. */
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
  /** The number of the last record whose effect it holds. */
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
 * `undefined` when the bytes are damaged.
 *
 * **Errors** — a format of another version: `E_STORE_FORMAT`.
 */
export function decodeMetadata(path: string, bytes: Uint8Array): InstanceMetadata | undefined {
  const { lines, damage, torn } = readLines(bytes);
  const isWhole = !damage && !torn && lines.length === 1;
  // Another version may seal in another way, so what cannot be read is asked for its version too.
  const fields = isWhole && lines[0] ? lines[0].fields : parseLoosely(bytes);
  const formatVersion = fields?.['formatVersion'];
  if (typeof formatVersion === 'number' && formatVersion !== FORMAT_VERSION) {
    const known = `this version reads and writes format ${FORMAT_VERSION}`;
    throw new GoondanError('E_STORE_FORMAT', `${path} is in format ${formatVersion}; ${known}`);
  }
  if (!isWhole || !fields) return undefined;
  const { seq: _, ...metadata } = fields;
  // Sealed by encodeMetadata, in the format this version writes.
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

/** **Errors** — `E_STORE_INSTANCE` when the folder belongs to another instance. */
export function refuseOtherInstance(path: string, wanted: AgentAddress, found: AgentAddress): void {
  if (found.agentName === wanted.agentName && found.instanceKey === wanted.instanceKey) return;
  const names = ({ agentName, instanceKey }: AgentAddress) => `agent ${agentName}, key ${JSON.stringify(instanceKey)}`;
  throw new GoondanError('E_STORE_INSTANCE', `${path} belongs to ${names(found)}, not to ${names(wanted)}`);
}
