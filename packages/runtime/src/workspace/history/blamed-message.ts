/** A message of a conversation, and its origin. */
import type { EventOrigin } from '../records/logged-record.ts';
import type { Message } from '@goondan/types';
import type { EventAuthor } from '../../agent/conversation/conversation-store.ts';

export interface BlamedMessage {
  /** The number of the event that added the message in its present form. */
  readonly seq: number;
  readonly at: Date;
  readonly turnId: string;
  /** Absent for a message added between steps. */
  readonly stepId?: string;
  readonly author: EventAuthor;
  readonly how: 'append' | 'replace';
  readonly message: Message;
  /** The messages that this one replaced. */
  readonly replaced?: ReplacedMessages;
  /** The original event of a message that came with a fork. */
  readonly origin?: EventOrigin;
}

/**
 * The messages that one message replaced: the target of its `replace`, and those that the same extension removed in the
 * same step. A message that had itself replaced others counts as one.
 */
export interface ReplacedMessages {
  readonly count: number;
  /** The lowest and the highest number of the events that had added them. */
  readonly first: number;
  readonly last: number;
  /** The first replaced messages: as many as requested, if they are still in the archive. */
  readonly messages: readonly BlamedMessage[];
}
