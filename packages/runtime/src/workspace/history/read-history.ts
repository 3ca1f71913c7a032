/**
 * The events of a conversation by their numbers, a page at a time. An event's number is how many of the events that count
 * came before it in the whole life of the conversation, plus one: 1, 2, 3, … without a gap, and never another one. What
 * was undone (the events of a step that was dropped) has none.
 */
import type { EventOrigin } from '../records/logged-record.ts';
import type { AgentAddress, MessageEvent } from '@goondan/types';
import type { EventAuthor } from '../../agent/conversation/conversation-store.ts';
import type { ArchivedTurn } from '../archive/read-archive.ts';
import type { UncheckedListener } from '../archive/read-committed-turns.ts';
import type { HistoryEntry } from './history-entry.ts';
import { HistoryFold } from './history-fold.ts';
import type { KeptHistory } from './kept-history.ts';

/** Whoever keeps histories: a journal. */
export interface HistorySource {
  history(instance: AgentAddress, onUnchecked?: UncheckedListener): Promise<KeptHistory>;
}

export interface HistoryQuestion {
  /** How many events at most; 100 when absent, and never more than 1000. */
  readonly limit?: number;
  /** Only events before this number: the next page back. */
  readonly before?: number;
}

export interface HistoryPage {
  /** The first event that is still kept. Those before it are gone, but not what they made of the conversation. */
  readonly first: number;
  /** The newest event there is; 0 when there is none. */
  readonly last: number;
  /** Oldest first, each with its events on this page. */
  readonly turns: readonly HistoryTurn[];
}

export interface HistoryTurn extends Omit<ArchivedTurn, 'events' | 'states'> {
  readonly events: readonly HistoryEvent[];
}

export interface HistoryEvent {
  readonly seq: number;
  readonly at: Date;
  readonly stepId?: string;
  readonly author: EventAuthor;
  readonly event: MessageEvent;
  /** The event that had put the message there which this one replaced or removed. */
  readonly target?: number;
  /** Of a message that came with a fork: where it had been put into a conversation first. */
  readonly origin?: EventOrigin;
}

const DEFAULT_LIMIT = 100;
const MOST_EVENTS = 1000;

/**
 * The last page, or the one before an event. Reads the archive from its beginning, one file of it at a time, and keeps the
 * page and the conversation.
 *
 * **Errors** — those of reading: `E_STORE_CORRUPT`, `E_STORE_READ`, …
 */
export async function readHistory(
  source: HistorySource,
  instance: AgentAddress,
  { limit = DEFAULT_LIMIT, before = Number.POSITIVE_INFINITY }: HistoryQuestion = {},
): Promise<HistoryPage> {
  const { start, turns } = await source.history(instance);
  const fold = new HistoryFold(start);
  const page = new PageOfTurns(Math.min(Math.max(1, Math.floor(limit)), MOST_EVENTS));
  for await (const archived of turns) {
    const after = fold.seq;
    const events: HistoryEvent[] = [];
    fold.apply(archived, Number.POSITIVE_INFINITY, (seq, { counts: _, ...event }, gone) => {
      if (seq < before) events.push({ ...event, seq, ...targetOf(event, gone) });
    });
    const { events: _events, states: _states, ...turn } = archived;
    // A turn without events stands between those of others.
    if (events.length > 0 || (fold.seq === after && after < before)) page.add({ ...turn, events });
  }
  return { first: start.seq + 1, last: fold.seq, turns: page.turns };
}

function targetOf({ event }: Pick<HistoryEvent, 'event'>, [gone]: readonly HistoryEntry[]): { target?: number } {
  return gone === undefined || event.type === 'truncate' ? {} : { target: gone.put.seq };
}

/** The last turns, as far as so many events go. */
class PageOfTurns {
  readonly turns: HistoryTurn[] = [];
  readonly #most: number;
  #count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  add(turn: HistoryTurn): void {
    this.turns.push(turn);
    this.#count += turn.events.length;
    while (this.#count > this.#most) this.#takeOff(this.#count - this.#most);
  }

  /** From the oldest turn, at most so many events; all of the turn when nothing of it is left. */
  #takeOff(tooMany: number): void {
    const oldest = this.turns.shift();
    const rest = oldest?.events.slice(tooMany) ?? [];
    this.#count -= Math.min(tooMany, oldest?.events.length ?? 0);
    if (oldest !== undefined && rest.length > 0) this.turns.unshift({ ...oldest, events: rest });
    // Those without events at the front are on the page before.
    while (this.turns[0]?.events.length === 0) this.turns.shift();
  }
}
