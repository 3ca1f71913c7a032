/**
 * Digests of the messages of requests. A request repeats the messages of the asker's last request and adds some, so only
 * the added ones are digested and hashed. Messages are immutable: a message that is the same object has the same digest.
 */
import type { ModelMessage } from '@goondan/types';
import { Sha256 } from '../json/sha256.ts';

export interface DigestedMessages {
  readonly messages: readonly ModelMessage[];
  /** A digest of each message. */
  readonly digests: readonly string[];
  /** A digest of all messages. */
  readonly digest: string;
}

interface Known extends DigestedMessages {
  /** The hash of all digests, to be continued. */
  readonly hash: Sha256;
}

const MOST_ASKERS = 8;

export class MessageDigests {
  /** The last messages of each asker, the oldest first. */
  readonly #known = new Map<string | undefined, Known>();

  /** `digestOf`: makes the digest of one message. */
  constructor(private readonly digestOf: (message: ModelMessage) => string) {}

  of(asker: string | undefined, messages: readonly ModelMessage[]): DigestedMessages {
    const last = this.#known.get(asker);
    if (last?.messages === messages) return last;
    const isLonger = last !== undefined && begins(messages, last.messages);
    const digests = isLonger ? last.digests.slice() : [];
    const hash = isLonger ? last.hash.copy() : new Sha256();
    for (let at = digests.length; at < messages.length; at++) {
      const message = messages[at];
      if (message === undefined) continue;
      const digest = this.digestOf(message);
      digests.push(digest);
      hash.append(digest);
    }
    const known = { messages, digests, hash, digest: hash.copy().digest() };
    this.#known.delete(asker);
    this.#known.set(asker, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MOST_ASKERS) this.#known.delete(oldest);
    return known;
  }
}

/** Returns true if the messages begin with all of the others. */
function begins(messages: readonly ModelMessage[], others: readonly ModelMessage[]): boolean {
  if (others.length > messages.length) return false;
  // A loop, because this runs for each model call of a long conversation.
  for (let at = others.length - 1; at >= 0; at--) if (messages[at] !== others[at]) return false;
  return true;
}
