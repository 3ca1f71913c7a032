/**
 * `metadata.json` of format 1: the identity of an instance and, in `commit`, its last commit. This file and its
 * neighbours only read format 1, to migrate it.
 */
import type { ReplyAddress } from '@goondan/types';
import type { StoredMessage } from '../../messages/message-text.ts';
import { readLines } from '../lines/read-lines.ts';
import type { FileMark, ForkOrigin, StoredResult } from '../records/metadata.ts';

export interface Metadata {
  readonly formatVersion: 1;
  readonly status: 'idle' | 'failed';
  readonly agentName: string;
  readonly instanceKey: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly commit: CommitRecord;
}

export interface CommitRecord {
  readonly version: number;
  /** The last commit. It may be missing in the archive and in the base. */
  readonly turn?: CommittedTurn;
  /** The mark of the base, with the number of the last record that the base includes. */
  readonly base: FileMark & { readonly seq: number };
  readonly messages: number;
  /** The mark of the base before this commit. */
  readonly previous: CommitRecord['base'];
  /** Records up to this number belong to turns that were given up without a commit. */
  readonly discarded?: number;
  readonly inbox: number;
  readonly extensions: Readonly<Record<string, FileMark>>;
  readonly statesAlone?: { readonly count: number; readonly unarchived: readonly string[] };
}

export interface CommittedTurn {
  readonly id: string;
  readonly at: number;
  /** One less than the number of the turn's first record. */
  readonly after: number;
  /** The messages added to the base: the numbers of their records, or messages without a record. */
  readonly base: 'rewrite' | readonly (number | StoredMessage)[];
  readonly result: StoredResult | 'reset' | 'fork';
  readonly states?: { readonly changed: readonly string[]; readonly removed: readonly string[] };
  readonly fork?: ForkOrigin;
  readonly replyTo?: ReplyAddress;
}

/** Reads the metadata. Returns `undefined` when the bytes are damaged, or `other` when they are in another format. */
export function decodeFormat1(bytes: Uint8Array): Metadata | 'other' | undefined {
  const { lines, damage, torn } = readLines(bytes);
  const [line] = lines;
  if (damage !== undefined || torn || lines.length !== 1 || !line) return undefined;
  if (line.fields['formatVersion'] !== 1) return 'other';
  const { seq: _, ...metadata } = line.fields;
  // Safe: the checksum was verified, and only format 1 writes this version.
  return metadata as unknown as Metadata;
}
