/**
 * The authors of the last message events: the extension that put a message there, and who replaced or removed it. The conversation in
 * memory keeps them from turn to turn, so that the reason for a change of the prompt can be named. Bounded: the oldest
 * entries are forgotten.
 */
import type { MessageEvent } from '@goondan/types';
import type { EventAuthor } from './conversation-store.ts';

/** The end of a message: the event that ended it, and its author. */
export interface MessageEnd {
  readonly event: 'replace' | 'remove' | 'truncate';
  readonly author: EventAuthor;
}

interface NumberedEnd extends MessageEnd {
  /** The number of the event. An id can be used again, so an older end may be that of another message. */
  readonly number: number;
}

const MOST_KNOWN = 1_000;

export class MessageAuthors {
  readonly #put = new Map<string, EventAuthor>();
  readonly #ended = new Map<string, NumberedEnd>();
  #truncated: NumberedEnd | undefined;
  #count = 0;

  /** The number of events so far. */
  get count(): number {
    return this.#count;
  }

  note(event: MessageEvent, author: EventAuthor): void {
    this.#count += 1;
    if (event.type !== 'append') {
      const end = { event: event.type, author, number: this.#count };
      if (event.type === 'truncate') this.#truncated = end;
      else remember(this.#ended, event.targetId, end);
    }
    // Most messages are of the model, a tool or the sender, and stay. Their authors are not worth the memory.
    if ('message' in event && author.kind === 'extension') remember(this.#put, event.message.id, author);
  }

  /** Returns the extension that put a message there; undefined if no extension did, or if it was long ago. */
  of(id: string): EventAuthor | undefined {
    return this.#put.get(id);
  }

  /**
   * Returns the end of a message that was in the conversation after the first `count` events and is not there any more;
   * undefined if its end is not known.
   */
  endOf(id: string, count: number): MessageEnd | undefined {
    const [own, truncated] = [this.#ended.get(id), this.#truncated];
    const newest = (own?.number ?? 0) > (truncated?.number ?? 0) ? own : truncated;
    return newest !== undefined && newest.number > count ? newest : undefined;
  }
}

function remember<Value>(known: Map<string, Value>, id: string, value: Value): void {
  known.delete(id);
  known.set(id, value);
  const [oldest] = known.keys();
  if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest);
}
