/**
 * The bytes of images and files, each stored once under its SHA-256. Conversations and input only name them, by a
 * reference.
 */
import type { AgentAddress } from '@goondan/types';
import type { LostFile } from '../workspace/blobs/find-lost-files.ts';

/** The user of stored bytes: a conversation, or an upload whose conversation is not known yet. */
export type BlobOwner = AgentAddress | { readonly upload: string };

/**
 * Invariants that every implementation guarantees:
 * 1. When `put` or `use` has resolved, the bytes survive a loss of power, and stay until the owner is released.
 * 2. The same bytes are stored once, however many owners use them.
 * 3. Bytes without an owner are removed: by `release`, or after a crash by `sweep`.
 */
export interface Blobs {
  /** Stores bytes for an owner, and returns their SHA-256. **Errors** — `E_DISK_FULL`, `E_STORE_WRITE`. */
  put(owner: BlobOwner, bytes: Uint8Array): Promise<string>;
  /** Lets an owner use bytes that are stored. **Errors** — `E_FILE_UNKNOWN`; those of the store. */
  use(owner: BlobOwner, digests: readonly string[]): Promise<void>;
  /**
   * Notes that the conversation or its input names these bytes durably. The note is a hint that saves work: without it,
   * `sweep` looks for the name.
   */
  named(owner: AgentAddress, digests: readonly string[]): Promise<void>;
  /** Returns the bytes; `undefined` when they are not stored. **Errors** — `E_STORE_CORRUPT`, `E_STORE_READ`. */
  get(digest: string): Promise<Uint8Array | undefined>;
  /** Returns the number of bytes; `undefined` when they are not stored. */
  size(digest: string): Promise<number | undefined>;
  /**
   * Finds bytes that a conversation names and that are missing or damaged. Reads all of them. The uses of conversations
   * tell the names: PostgreSQL finds only bytes with a row in `gdn_blob_use`. A workspace of files searches its logs if the
   * lists of uses are gone.
   */
  findLost(): Promise<readonly LostFile[]>;
  /** Ends the uses of an owner that is gone, and removes the bytes that nobody uses any more. */
  release(owner: BlobOwner): Promise<void>;
  /** Lets a conversation use everything that another one uses. */
  share(from: AgentAddress, to: AgentAddress): Promise<void>;
  /** Removes uploads, uses and bytes that a crash left. Only for the owner of the store, when the swarm starts. */
  sweep(): Promise<void>;
}

/** The side of an agent process. */
export type AgentBlobs = Pick<Blobs, 'put' | 'use' | 'named' | 'get' | 'size'>;

/** The side of commands and Studio. */
export type BlobReader = Pick<Blobs, 'get' | 'size' | 'findLost'>;
