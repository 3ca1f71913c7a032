import { type ArchivedTurn, blame, type HistorySource, type KeptHistory } from '@goondan/runtime/history';
import type { AgentAddress } from '@goondan/types';
import type { ConversationView } from '../contract.ts';

/**
 * Reads a conversation as it was at a moment, and the range of moments to choose from. Reads the history once: events
 * after the moment are only counted. `at` is the event after which to show the conversation, by default the newest, and
 * `last` the maximum number of messages.
 *
 * **Errors** — `E_HISTORY_RANGE`; those of reading.
 */
export async function readConversation(
  source: HistorySource,
  instance: AgentAddress,
  { at, last }: { readonly at?: number; readonly last: number },
): Promise<Omit<ConversationView, 'messages'> & { readonly messages: Awaited<ReturnType<typeof blame>>['messages'] }> {
  const counted = new CountedHistory(await source.history(instance));
  const { seq, messages } = await blame(counted, instance, at === undefined ? {} : { at });
  const newest = await counted.countRest();
  const shown = messages.slice(-last);
  return {
    seq,
    first: newest === 0 ? 0 : counted.start + 1,
    last: newest,
    earlier: messages.length - shown.length,
    messages: shown,
  };
}

/** A history whose reader may stop early; `countRest` then counts the remaining events. */
class CountedHistory implements HistorySource {
  /** The number of events that are no longer kept. */
  readonly start: number;
  readonly #history: KeptHistory;
  readonly #turns: AsyncIterator<ArchivedTurn>;
  #seq: number;

  constructor(history: KeptHistory) {
    this.#history = history;
    this.#turns = history.turns[Symbol.asyncIterator]();
    this.start = history.start.seq;
    this.#seq = history.start.seq;
  }

  async history(): Promise<KeptHistory> {
    // The iterator has no `return`, so that the rest can still be counted after a reader stopped early.
    const turns = { [Symbol.asyncIterator]: () => ({ next: () => this.#next() }) };
    return { start: this.#history.start, turns };
  }

  /** Reads the remaining events, and returns the number of the newest event. */
  async countRest(): Promise<number> {
    while ((await this.#next()).done !== true);
    return this.#seq;
  }

  async #next(): Promise<IteratorResult<ArchivedTurn>> {
    const next = await this.#turns.next();
    if (next.done !== true) this.#seq += next.value.events.filter(({ counts }) => counts).length;
    return next;
  }
}
