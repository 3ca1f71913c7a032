/**
 * Reads the events of a conversation by number, a page at a time. Events that count are numbered 1, 2, 3, … without
 * gaps over the whole life of the conversation, and a number never changes. Undone events (those of a dropped step)
 * have no number.
 */
import type { AgentAddress } from '@goondan/types';
import type { ArchivedEvent, ArchivedTurn } from '../archive/read-archive.ts';
import type { UncheckedListener } from '../archive/read-committed-turns.ts';
import type { HistoryEntry } from './history-entry.ts';
import { HistoryFold } from './history-fold.ts';
import type { KeptHistory } from './kept-history.ts';

/** A store of histories: a journal. */
export interface HistorySource {
  history(instance: AgentAddress, onUnchecked?: UncheckedListener): Promise<KeptHistory>;
}

export interface HistoryQuestion {
  /** At most this many events; 100 when absent, at most 1000. */
  readonly limit?: number;
  /** Only events before this number, for the previous page. */
  readonly before?: number;
}

export interface HistoryPage {
  /** The first kept event. Earlier events are deleted, but their effect on the conversation is kept. */
  readonly first: number;
  /** The number of the newest event; 0 when there are none. */
  readonly last: number;
  /** Oldest first, each with its events on this page. */
  readonly turns: readonly HistoryTurn[];
}

export interface HistoryTurn extends Omit<ArchivedTurn, 'events' | 'states'> {
  readonly events: readonly HistoryEvent[];
}

export interface HistoryEvent extends Omit<ArchivedEvent, 'counts'> {
  /** The event that had added the replaced or removed message. */
  readonly target?: number;
}

const DEFAULT_LIMIT = 100;
const MOST_EVENTS = 1000;

/**
 * Reads the last page, or the page before an event. Reads the archive from its start, one file at a time, and keeps
 * only the page and the conversation.
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
    // A turn without events is listed between the turns around it.
    if (events.length > 0 || (fold.seq === after && after < before)) page.add({ ...turn, events });
  }
  return { first: start.seq + 1, last: fold.seq, turns: page.turns };
}

function targetOf({ event }: Pick<HistoryEvent, 'event'>, [gone]: readonly HistoryEntry[]): { target?: number } {
  return gone === undefined || event.type === 'truncate' ? {} : { target: gone.put.seq };
}

/** Keeps the last turns, up to a limit of events. */
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

  /** Removes at most this many events from the oldest turn, or the whole turn when no event of it would be left. */
  #takeOff(tooMany: number): void {
    const oldest = this.turns.shift();
    const rest = oldest?.events.slice(tooMany) ?? [];
    this.#count -= Math.min(tooMany, oldest?.events.length ?? 0);
    if (oldest !== undefined && rest.length > 0) this.turns.unshift({ ...oldest, events: rest });
    // Turns without events at the front belong to the page before.
    while (this.turns[0]?.events.length === 0) this.turns.shift();
  }
}
