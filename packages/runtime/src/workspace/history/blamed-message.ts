/** A message of a conversation, and its origin. */
import type { EventOrigin } from '../records/logged-record.ts';
import type { Message } from '@goondan/types';
import type { EventAuthor } from '../../agent/conversation/conversation-store.ts';

export interface BlamedMessage {
  /** The number of the event that added or last replaced the message. */
  readonly seq: number;
  readonly at: Date;
  readonly turnId: string;
  /** The step that added the message. Absent for a message that was added between steps. */
  readonly stepId?: string;
  readonly author: EventAuthor;
  readonly how: 'append' | 'replace';
  readonly message: Message;
  /** The messages that this message replaced. */
  readonly replaced?: ReplacedMessages;
  /** The original event of a message that was copied by a fork. */
  readonly origin?: EventOrigin;
}

/**
 * The messages that one message replaced: the target of its `replace`, and messages that the same extension removed in
 * the same step. A replaced message is counted once, even if it had replaced several messages itself.
 */
export interface ReplacedMessages {
  readonly count: number;
  /** The lowest number of the events that added the replaced messages; `last` is the highest. */
  readonly first: number;
  readonly last: number;
  /** The first of the replaced messages, up to the requested number, if they are still in the archive. */
  readonly messages: readonly BlamedMessage[];
}
