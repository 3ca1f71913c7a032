/** Reads a conversation as it was at one moment. */
import { type AgentAddress, GoondanError } from '@goondan/types';
import { turnIdOf } from '../../ports/ids.ts';
import { findTurnId, matchTyped, shortTurnId } from '../../ports/turn-ids.ts';
import type { UncheckedListener } from '../archive/read-committed-turns.ts';
import { isCorrupt } from '../lines/corrupt-store.ts';
import { HistoryFold } from './history-fold.ts';
import type { HistorySource } from './read-history.ts';

/**
 * The moment after the event with this number (0: before the first event), or after the turn with this id. A prefix of
 * the id is enough if only one turn matches. The id of an input that a turn took while it ran means that turn. A text of
 * digits is an id if a turn begins like it, and otherwise a number.
 */
export type Moment = number | string;

/**
 * Folds the history up to a moment, or up to the newest one when `at` is absent. Reads the archive from its start, one
 * file at a time, and keeps only the conversation in memory. If `onUnchecked` is given, damage after the moment or in
 * the commit record is reported to it instead of thrown.
 *
 * **Errors** — `E_HISTORY_RANGE` when the event or turn does not exist or is no longer kept; `E_TRACE_AMBIGUOUS` with
 * the candidates; those of reading.
 */
export async function foldHistory(
  source: HistorySource,
  instance: AgentAddress,
  asked?: Moment,
  replacedLimit = 0,
  onUnchecked?: UncheckedListener,
): Promise<HistoryFold> {
  const meant = typeof asked === 'string' ? await resolveTurn(source, instance, asked, onUnchecked) : undefined;
  const moment = meant === undefined && typeof asked === 'string' ? Number(asked) : asked;
  if (typeof moment === 'number' && !(Number.isSafeInteger(moment) && moment >= 0)) {
    throw range(`${moment} is not the number of an event.`);
  }
  const turnId = meant?.turnId;
  const { start, turns } = await source.history(instance, onUnchecked);
  const fold = new HistoryFold(start, replacedLimit);
  if (meant?.isTaken === true) fold.takenBy = meant.turnId;
  const until = typeof moment === 'number' ? moment : Number.POSITIVE_INFINITY;
  if (until < start.seq) {
    throw range(`The conversation after event ${until} is no longer kept; the earliest moment is ${start.seq}.`);
  }
  let isFound = turnId === undefined;
  try {
    for await (const turn of turns) {
      // A turn without events has the same event number as the turn before it, so it belongs to the same moment.
      if (!fold.apply(turn, until)) break;
      isFound ||= turn.turnId === turnId;
      if (turn.turnId === turnId) break;
    }
  } catch (error) {
    if (onUnchecked === undefined || fold.seq !== moment || !isCorrupt(error)) throw error;
    onUnchecked(error);
  }
  // The turn was found, but its archive file may have been deleted since.
  if (!isFound) throw unknownTurn(turnId ?? '');
  if (typeof moment === 'number' && fold.seq < moment) throw range(tooLate(moment, fold.seq));
  return fold;
}

interface MeantTurn {
  readonly turnId: string;
  /** True if the id is that of an input which the turn took while it ran. */
  readonly isTaken?: boolean;
}

/**
 * Finds the turn that a typed id means; `undefined` if it is a number. Only the ids that may be meant are kept in memory.
 */
async function resolveTurn(
  source: HistorySource,
  instance: AgentAddress,
  typed: string,
  onUnchecked: UncheckedListener | undefined,
): Promise<MeantTurn | undefined> {
  const mayMean = matchTyped(typed);
  const turnIds = new Set<string>();
  /** The turns that took events, by the ids that the events would have as turns. */
  const takenBy = new Map<string, string>();
  for await (const { turnId, events } of (await source.history(instance, onUnchecked)).turns) {
    if (turnId === typed) return { turnId };
    if (mayMean(turnId)) turnIds.add(turnId);
    for (const { took } of events) {
      const taken = took && turnIdOf(took.event.id);
      if (taken !== undefined && mayMean(taken)) takenBy.set(taken, turnId);
    }
  }
  const found = findTurnId(typed, turnIds);
  if (found !== undefined) return { turnId: found };
  const taker = takenBy.get(findTurnId(typed, takenBy.keys()) ?? '');
  if (taker !== undefined) return { turnId: taker, isTaken: true };
  const pending = (await source.pending?.(instance)) ?? [];
  const unfinished = findTurnId(
    typed,
    pending.map(({ id }) => turnIdOf(id)),
  );
  if (unfinished === undefined && /^\d+$/.test(typed)) return undefined;
  if (unfinished === undefined) throw unknownTurn(typed);
  throw range(`Turn ${shortTurnId(unfinished)} has not ended yet, so it is not in the history.`);
}

function tooLate(moment: number, last: number): string {
  if (last === 0) return `There is no event ${moment}: nothing has happened in this conversation yet.`;
  return `There is no event ${moment}: the newest one is ${last}.`;
}

function unknownTurn(turnId: string): GoondanError {
  return range(`No turn "${turnId}" is in the history of this conversation.`);
}

function range(message: string): GoondanError {
  return new GoondanError('E_HISTORY_RANGE', message);
}
