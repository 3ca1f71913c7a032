/** A message of a conversation, and how it came to be there. */
import type { EventOrigin } from '../records/logged-record.ts';
import type { Message } from '@goondan/types';
import type { EventAuthor } from '../../agent/conversation/conversation-store.ts';

export interface BlamedMessage {
  /** The number of the event that put it there, as it is. */
  readonly seq: number;
  readonly at: Date;
  readonly turnId: string;
  /** Absent when it was put there between steps. */
  readonly stepId?: string;
  readonly author: EventAuthor;
  readonly how: 'append' | 'replace';
  readonly message: Message;
  /** Which messages it took the place of. */
  readonly replaced?: ReplacedMessages;
  /** Of a message that came with a fork: where it had been put into a conversation first. */
  readonly origin?: EventOrigin;
}

/**
 * What one message stands for: the one it replaced, and those that the same extension removed in the same step. One that
 * had itself replaced others counts as one.
 */
export interface ReplacedMessages {
  readonly count: number;
  /** The lowest and the highest number among the events that had put them there. */
  readonly first: number;
  readonly last: number;
  /** The first of them, as many as were asked for and are still in the archive. */
  readonly messages: readonly BlamedMessage[];
}
