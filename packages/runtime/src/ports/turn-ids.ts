/**
 * The ids of turns for people: the short form that every command, log line and Studio shows, and the turn that a typed
 * id means.
 *
 * The id of a turn is `turn-` and the id of its event. A client's event is `event-<uuid>`, that of a connector
 * `heard-<digits>`, that of another agent `call-<digits>`; any other id was chosen by the sender. The second try of a
 * dead letter has the id of the first one and `~retry`.
 *
 * Invariants:
 * 1. `findTurnId` accepts every short form.
 * 2. A short form is never a number, because a number is an event of a conversation (`gdn history --at 5`), and never
 *    `last`.
 * 3. A typed id never means another try of the turn: `1f3a9c2b` is the first one, and `1f3a9c2b~retry` the second.
 */
import { GoondanError } from '@goondan/types';
import { turnIdOf } from './ids.ts';

const kinds = ['event', 'heard', 'call'] as const;
/** Only the exact shapes: a sender may choose `event-20261116-1`, which is not the beginning of `event-20261116-17`. */
const RANDOM = /^turn-(?:event-([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})|(?:heard|call)-([\da-f]{32}))$/;
const PREFIX = new RegExp(`^(?:turn-)?(?:(?:${kinds.join('|')})-)?`);
const RETRIES = /(?:~retry)+$/;
/** The length of a short form. It is longer if another turn's id begins with the same characters. */
const SHORTEST = 8;

/**
 * Returns the short form of a turn's id: the beginning of its random part, or the whole id of the event if the sender
 * chose it. `among`: the ids of turns that the short form must not fit.
 *
 * @example shortTurnId('turn-event-1f3a9c2b-0000-4000-8000-000000000000') // '1f3a9c2b'
 * @example shortTurnId('turn-mail-17') // 'mail-17'
 */
export function shortTurnId(turnId: string, among: Iterable<string> = []): string {
  const [first, retries] = splitRetries(turnId);
  const own = randomPart(first);
  if (own === undefined) return chosenPart(turnId);
  const isAlike = (other: string) => other !== turnId && other.includes(own.slice(0, SHORTEST));
  // A sender's id may begin like a random one.
  const others = Array.from(among)
    .filter(isAlike)
    .map(splitRetries)
    .filter(([, otherRetries]) => otherRetries === retries)
    .map(([other]) => other.replace(PREFIX, ''));
  const isOpen = (short: string) => /^\d+-?$/.test(short) || others.some((other) => other.startsWith(short));
  let length = SHORTEST;
  while (length < own.length && isOpen(own.slice(0, length))) length++;
  return `${own.slice(0, length)}${retries}`;
}

/** Returns the short form of the turn of an event. */
export function shortIdOfEvent(eventId: string): string {
  return shortTurnId(turnIdOf(eventId));
}

/** Splits an id into the id of the first try, and one `~retry` for each further try. */
export function splitRetries(id: string): [first: string, retries: string] {
  const first = id.replace(RETRIES, '');
  return [first, id.slice(first.length)];
}

function randomPart(turnId: string): string | undefined {
  const [, uuid, digits] = RANDOM.exec(turnId) ?? [];
  return uuid ?? digits;
}

function chosenPart(turnId: string): string {
  const chosen = turnId.replace(/^turn-/, '');
  return /^(?:\d+|last|-.*|)$/s.test(chosen) ? turnId : chosen;
}

/** Returns every turn id that a typed id may stand for: whole, without `turn-`, or the random part only. */
export function typedTurnIds(typed: string): string[] {
  return [typed, turnIdOf(typed), ...kinds.map((kind) => turnIdOf(`${kind}-${typed}`))];
}

/** Returns the function that tells whether a typed id may mean a turn, because the turn's id begins like it. */
export function matchTyped(typed: string): (turnId: string) => boolean {
  const [start, retries] = splitRetries(typed);
  const starts = typedTurnIds(start);
  return (turnId) => {
    const [first, ownRetries] = splitRetries(turnId);
    return ownRetries === retries && starts.some((id) => first.startsWith(id));
  };
}

export interface FindTurnOptions {
  /**
   * True if the turn is changed, for example cancelled. The beginning of an id that a sender chose does not count then,
   * because `mail-1` may have ended and `mail-17` may not.
   */
  readonly isChange?: boolean;
}

/**
 * Finds the turn that a typed id means: the turn with this id, or the only turn whose id begins like this. Returns
 * `undefined` when there is none. **Errors** — `E_TRACE_AMBIGUOUS`, with the candidates.
 */
export function findTurnId(
  typed: string,
  turnIds: Iterable<string>,
  { isChange = false }: FindTurnOptions = {},
): string | undefined {
  const known = new Set(turnIds);
  const exact = typedTurnIds(typed).find((id) => known.has(id));
  if (exact !== undefined) return exact;
  const mayMean = matchTyped(typed);
  const begins = [...known].filter((turnId) => mayMean(turnId) && (!isChange || isLongEnough(typed, turnId)));
  if (begins.length > 1) throw ambiguousId(typed, begins, (turnId) => shortTurnId(turnId, begins));
  return begins[0];
}

/** Returns true if a typed beginning has as much of the random part of the id as a short form. */
function isLongEnough(typed: string, turnId: string): boolean {
  const [start] = splitRetries(typed);
  return randomPart(splitRetries(turnId)[0]) !== undefined && start.replace(PREFIX, '').length >= SHORTEST;
}

/** The number of candidates in an error message. */
const MOST_NAMED = 5;

/**
 * Makes the error for an id that begins like several others. `name` returns the text for a candidate; it is called only
 * for the candidates in the message.
 */
export function ambiguousId<Candidate>(
  typed: string,
  candidates: readonly Candidate[],
  name: (candidate: Candidate) => string,
  suggestion?: string,
): GoondanError {
  const named = candidates.slice(0, MOST_NAMED).map(name);
  const more = candidates.length > MOST_NAMED ? `, and ${candidates.length - MOST_NAMED} more` : '';
  return new GoondanError(
    'E_TRACE_AMBIGUOUS',
    `"${typed}" may be ${named.join(', ')}${more}.`,
    suggestion === undefined ? {} : { suggestion },
  );
}
