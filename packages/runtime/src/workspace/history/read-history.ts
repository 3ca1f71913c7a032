/**
 * Reads the events of a conversation by number, one page at a time. Events that count are numbered 1, 2, 3, … without
 * gaps over the whole life of the conversation, and the number of an event never changes. Undone events, such as those
 * of a dropped step, have no number.
 */
import type { AgentAddress, AgentEvent } from '@goondan/types';
import type { ArchivedEvent, ArchivedTurn, OpenArchivedTurn } from '../archive/read-archive.ts';
import type { UncheckedListener } from '../archive/read-committed-turns.ts';
import type { HistoryEntry } from './history-entry.ts';
import { HistoryFold } from './history-fold.ts';
import type { KeptHistory } from './kept-history.ts';

/** Provides the history of an instance; a journal implements it. */
export interface HistorySource {
  history(instance: AgentAddress, onUnchecked?: UncheckedListener): Promise<KeptHistory>;
  /** Lists the events whose turns have not ended; none when absent. Used only to explain an error. */
  pending?(instance: AgentAddress): Promise<readonly Pick<AgentEvent, 'id'>[]>;
  /**
   * Returns the turn that is not committed yet, with its events so far; `undefined` when there is none. **Errors** — those
   * of reading.
   */
  openTurn?(instance: AgentAddress): Promise<OpenArchivedTurn | undefined>;
}

export interface HistoryQuestion {
  /** The maximum number of events to return: 100 when absent, and never more than 1000. */
  readonly limit?: number;
  /** If given, only events with a lower number are returned. Use it to read the previous page. */
  readonly before?: number;
}

export interface HistoryPage {
  /**
   * The number of the first kept event. Earlier events are deleted, but the conversation still includes their effect.
   */
  readonly first: number;
  /** The number of the newest event; 0 when the history has no events. */
  readonly last: number;
  /** Turns, oldest first. Each turn has only those of its events that are on this page. */
  readonly turns: readonly HistoryTurn[];
}

export interface HistoryTurn extends Omit<ArchivedTurn, 'events' | 'states'> {
  readonly events: readonly HistoryEvent[];
}

export interface HistoryEvent extends Omit<ArchivedEvent, 'counts' | 'took'> {
  /** Present for an input that the turn took from another event while it ran: that event, and the step after it. */
  readonly took?: { readonly eventId: string; readonly beforeStep: number };
  /** The number of the event that added the replaced or removed message. */
  readonly target?: number;
}

const DEFAULT_LIMIT = 100;
const MOST_EVENTS = 1000;

/**
 * Reads the last page, or the page before a given event. Reads the archive from its start, one file at a time, and
 * keeps only the page and the conversation in memory.
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
    fold.apply(archived, Number.POSITIVE_INFINITY, (seq, { counts: _, took, ...event }, gone) => {
      if (seq < before) events.push({ ...event, seq, ...tookOf(took), ...targetOf(event, gone) });
    });
    const { events: _events, states: _states, ...turn } = archived;
    // A turn without events is listed if it lies between two turns of this page.
    if (events.length > 0 || (fold.seq === after && after < before)) page.add({ ...turn, events });
  }
  return { first: start.seq + 1, last: fold.seq, turns: page.turns };
}

function tookOf(took: ArchivedEvent['took']): Pick<HistoryEvent, 'took'> {
  return took === undefined ? {} : { took: { eventId: took.event.id, beforeStep: took.beforeStep } };
}

function targetOf({ event }: Pick<HistoryEvent, 'event'>, [gone]: readonly HistoryEntry[]): { target?: number } {
  return gone === undefined || event.type === 'truncate' ? {} : { target: gone.seq };
}

/** Keeps the last turns, up to a limit of events. */
class PageOfTurns {
  readonly turns: HistoryTurn[] = [];
  #count = 0;

  constructor(private readonly most: number) {}

  add(turn: HistoryTurn): void {
    this.turns.push(turn);
    this.#count += turn.events.length;
    while (this.#count > this.most) this.#takeOff(this.#count - this.most);
  }

  /** Removes up to `tooMany` events from the oldest turn, or the whole turn if none of its events would remain. */
  #takeOff(tooMany: number): void {
    const oldest = this.turns.shift();
    const rest = oldest?.events.slice(tooMany) ?? [];
    this.#count -= Math.min(tooMany, oldest?.events.length ?? 0);
    if (oldest !== undefined && rest.length > 0) this.turns.unshift({ ...oldest, events: rest });
    // A turn without events at the start of the page belongs to the previous page.
    while (this.turns[0]?.events.length === 0) this.turns.shift();
  }
}
