/**
 * Digests of the messages of requests. A request repeats the messages of the asker's last request and adds some, so only
 * the added ones are digested, hashed and looked up. Messages are immutable: a message that is the same object has the
 * same digest and the same id.
 */
import type { ModelMessage } from '@goondan/types';
import { Sha256 } from '../json/sha256.ts';

export interface DigestedMessages {
  readonly messages: readonly ModelMessage[];
  /** A digest of each message. The next request of the asker may add to this list. */
  readonly digests: readonly string[];
  /** A digest of all messages. */
  readonly digest: string;
  /** The runs of messages that are in the conversation, in order. */
  readonly runs: readonly MessageRun[];
}

/** Messages that follow each other in the conversation and in a request. */
export interface MessageRun {
  /** The position of the first message in the request. */
  readonly start: number;
  readonly count: number;
  /** The ids of the first and of the last message. */
  readonly id: string;
  readonly to: string;
  /** A digest of the digests of all messages of the run. */
  readonly digest: string;
}

interface Known extends DigestedMessages {
  readonly digests: string[];
  /** The hash of all digests, to be continued. */
  readonly hash: Sha256;
  readonly runs: GrowingRun[];
}

const MOST_ASKERS = 8;

export class MessageDigests {
  /** The last messages of each asker, the oldest first. */
  readonly #known = new Map<string | undefined, Known>();

  /** `digestOf`: makes the digest of one message. */
  constructor(private readonly digestOf: (message: ModelMessage) => string) {}

  /**
   * `idOf` returns the id of a message in the conversation. `follows` tells whether the message `id` is the successor of
   * `other` there; without it, each message is a run. The result is valid until the next call.
   */
  of(
    asker: string | undefined,
    messages: readonly ModelMessage[],
    idOf?: (message: ModelMessage) => string | undefined,
    follows: (id: string, other: string) => boolean = () => false,
  ): DigestedMessages {
    const last = this.#known.get(asker);
    if (last?.messages === messages) return last;
    const isLonger = last !== undefined && begins(messages, last.messages);
    const { digests, hash, runs }: Pick<Known, 'digests' | 'hash' | 'runs'> = isLonger
      ? last
      : { digests: [], hash: new Sha256(), runs: [] };
    for (let at = digests.length; at < messages.length; at++) {
      const message = messages[at];
      if (message === undefined) continue;
      const digest = this.digestOf(message);
      digests.push(digest);
      hash.append(digest);
      const id = idOf?.(message);
      if (id === undefined) continue;
      const run = runs.at(-1);
      if (run?.end === at && follows(id, run.to)) run.add(id, digest);
      else runs.push(new GrowingRun(at, id, digest));
    }
    const known = { messages, digests, hash, runs, digest: hash.copy().digest() };
    this.#known.delete(asker);
    this.#known.set(asker, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MOST_ASKERS) this.#known.delete(oldest);
    return known;
  }
}

class GrowingRun implements MessageRun {
  count = 1;
  to: string;
  readonly #hash = new Sha256();

  constructor(
    readonly start: number,
    readonly id: string,
    digest: string,
  ) {
    this.to = id;
    this.#hash.append(digest);
  }

  get end(): number {
    return this.start + this.count;
  }

  get digest(): string {
    return this.#hash.copy().digest();
  }

  add(id: string, digest: string): void {
    this.count += 1;
    this.to = id;
    this.#hash.append(digest);
  }
}

/** Returns true if the messages begin with all of the others. */
function begins(messages: readonly ModelMessage[], others: readonly ModelMessage[]): boolean {
  if (others.length > messages.length) return false;
  // A loop, because this runs for each model call of a long conversation.
  for (let at = others.length - 1; at >= 0; at--) if (messages[at] !== others[at]) return false;
  return true;
}
