/**
 * The logs of conversations that are kept elsewhere than in files of this machine: the same frames, line by line, and
 * checkpoints. `store/log` runs a `ConversationStore` over it, in an agent process over its channel, and in a node
 * directly.
 *
 * Invariants that every such log guarantees:
 * 1. Only the owner of an instance writes. Every write carries the epoch of its claim; with an older one, it gets
 *    `E_FENCED` and changes nothing.
 * 2. Frames are kept in the order of their numbers, without gaps. A frame that is written twice is kept once.
 * 3. A frame with a commit, and everything that the commit changes, is written as one change.
 * 4. When the promise of a durable append resolves, this frame and all frames before it survive the loss of every node. A
 *    frame that is not durable survives the end of the agent process.
 */
import type { AgentAddress } from '@goondan/types';
import type { Spending } from '../usage/spending.ts';

export interface ConversationLog {
  /** Reads the log for its owner. **Errors** — `E_FENCED`, `E_STORE_AWAY`, `E_STORE_READ`. */
  load(instance: AgentAddress): Promise<StoredLog>;
  /**
   * Adds a frame. **Errors** — `E_FENCED`, `E_STORE_WRITE`; a retryable `E_STORE_ORDER` when a turn begins before earlier
   * input is handled, which the node then reads and runs first.
   */
  append(instance: AgentAddress, epoch: number, frame: LogFrame): Promise<void>;
  /**
   * Replaces the checkpoint, and moves the frames that it includes to the archive. **Errors** — as `append`. After an
   * error, the old checkpoint and all frames after it are still there.
   */
  putCheckpoint(instance: AgentAddress, epoch: number, checkpoint: NewCheckpoint): Promise<void>;
}

export interface StoredLog {
  /** The epoch of the owner's claim. It increases with every claim. */
  readonly epoch: number;
  /** The JSON text of the last checkpoint; absent before the first one. */
  readonly checkpoint?: string;
  /** The lines of the base at the checkpoint, as in `base.jsonl`, in pieces. */
  readonly base: readonly string[];
  /** The frames after the checkpoint, oldest first: lines without their line breaks. */
  readonly frames: readonly string[];
}

/** One frame, as `encodeFrame` makes it. */
export interface LogFrame {
  /** The number of its first record or commit. */
  readonly seq: number;
  /** The number of its last record or commit. */
  readonly last: number;
  readonly line: string;
  readonly isDurable: boolean;
  /** The number of the turn's event in the inbox, in the first frame of a turn. The event has begun. */
  readonly begins?: number;
  /** Present if the frame commits something. */
  readonly commit?: FrameCommit;
}

/** The parts of a commit that are kept beside the log, for lists and for other nodes. */
export interface FrameCommit {
  readonly version: number;
  readonly messages: number;
  readonly deadLetters: number;
  /** Milliseconds since 1970: the time of the last turn or reset that was committed. */
  readonly updatedAt: number;
  /** Every event up to this number is handled. */
  readonly handled: number;
  /** The model calls of the turn, to be added to those of the instance (`UsageReader`). */
  readonly spent?: readonly Spending[];
  /** The numbers above `handled` of events that the turn has taken: they are handled, too. Absent when there are none. */
  readonly taken?: readonly number[];
  /** The answer for the caller that waits for this turn. */
  readonly answer?: StoredAnswer;
}

export interface StoredAnswer {
  readonly eventId: string;
  /** The instance that asked; absent if the caller is no agent. */
  readonly caller?: AgentAddress;
  /** The JSON text of the reply, as `encodeReply` makes it. */
  readonly reply: string;
}

export interface NewCheckpoint {
  /** The number of the last record that the checkpoint includes. */
  readonly seq: number;
  readonly text: string;
  /** The lines that are added to the base, or that replace it. */
  readonly base: { readonly type: 'append' | 'rewrite'; readonly lines: string };
}
