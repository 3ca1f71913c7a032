import type { ArchivedEvent, ArchivedTurn, HistorySource } from '@goondan/runtime/history';
import { type AgentAddress, endingOf } from '@goondan/types';
import type { TimelineTurn, TimelineView } from '../contract.ts';

/** The maximum number of events, and of turns. Older ones are left out. */
const MOST_SHOWN = 20_000;

const letters: Readonly<Record<ArchivedEvent['author']['kind'], string>> = {
  input: 'i',
  model: 'm',
  tool: 't',
  extension: 'e',
  runtime: 'r',
};

/** Reads the timeline of a conversation in one pass over its history. **Errors** — those of reading. */
export async function readTimeline(source: HistorySource, instance: AgentAddress): Promise<TimelineView> {
  const { start, turns } = await source.history(instance);
  let last = start.seq;
  let authors = '';
  let shown: TimelineTurn[] = [];
  for await (const turn of turns) {
    const events = turn.events.filter(({ counts }) => counts);
    const from = events.length === 0 ? last : last + 1;
    last += events.length;
    authors += events.map(({ author }) => letters[author.kind]).join('');
    shown.push(describe(turn, from, last));
    // Cuts only from time to time, because each cut copies everything that is kept.
    if (authors.length > 2 * MOST_SHOWN) authors = authors.slice(-MOST_SHOWN);
    if (shown.length > 2 * MOST_SHOWN) shown = shown.slice(-MOST_SHOWN);
  }
  authors = authors.slice(-MOST_SHOWN);
  const from = last - authors.length + 1;
  return {
    first: last === 0 ? 0 : start.seq + 1,
    last,
    from: last === 0 ? 0 : from,
    authors,
    turns: shown.slice(-MOST_SHOWN).filter(({ to }) => to >= from || authors === ''),
  };
}

function describe({ turnId, committedAt, result }: ArchivedTurn, from: number, to: number): TimelineTurn {
  const turn = { turnId, from, to, committedAt: committedAt.toISOString() };
  if (typeof result === 'string') return { ...turn, result };
  const { error } = result;
  if (error === undefined) return { ...turn, result: 'completed' };
  return { ...turn, result: endingOf(result) === 'cancelled' ? 'cancelled' : 'failed', error };
}
