/** Decides everything that a commit will write, before the first write. The cost depends on the turn, not on the history. */
import type { JsonValue, Message, TurnResult } from '@goondan/types';
import type { BaseDelta, TurnInput } from '../../agent/conversation/conversation-store.ts';
import { encodeMessage, type StoredMessage } from '../../messages/message-text.ts';
import { countTurn } from '../../usage/count-turn.ts';
import { markOf } from '../records/extension-files.ts';
import { appendedBy, countedEvents } from '../records/fold-base.ts';
import type { BasePart, CommitEntry, StateChanges } from '../records/frame.ts';
import type { LogState } from '../records/log-state.ts';
import type { LoggedRecord } from '../records/logged-record.ts';
import type { ForkOrigin, StoredResult } from '../records/metadata.ts';
import { takenBy } from '../records/taken-by.ts';

export interface TurnToCommit {
  readonly log: readonly LoggedRecord[];
  /** For a reset: the records of the interrupted turn that it ends. */
  readonly ended?: readonly LoggedRecord[];
  readonly delta: BaseDelta;
  readonly states: StatesPlan;
  readonly result: TurnResult | 'reset' | 'fork';
  /** Present when the result is `fork`. */
  readonly fork?: ForkOrigin;
  /** The event that the turn handled, if it came through the inbox. */
  readonly entry?: TurnInput | undefined;
}

export function planCommit(
  state: LogState,
  { log, ended, delta, states, result, fork, entry }: TurnToCommit,
): CommitEntry {
  const refer = referTo(log);
  const base = planBase(log, delta, refer);
  const taken = takenBy(log).map(({ seq, event }) => [seq, event.id] as const);
  return {
    version: state.version + 1,
    result: typeof result === 'string' ? result : storeResult(result, refer),
    ...(fork && { fork }),
    ...(ended ? planDropped(ended) : planCounts(log)),
    messages: (delta.type === 'rewrite' ? 0 : state.messages) + delta.messages.length,
    ...(base !== undefined && { base }),
    ...(entry && { inbox: entry.seq }),
    ...(taken.length > 0 && { taken }),
    ...(entry?.event.replyTo && { replyTo: entry.event.replyTo }),
    ...(states.changes && { states: states.changes }),
  };
}

/** Counts the model calls of the turn, the tokens of called agents, and the steps. */
function planCounts(log: readonly LoggedRecord[]): Pick<CommitEntry, 'spent' | 'called' | 'steps'> {
  const { spent, called, steps } = countTurn(log);
  return { ...(spent.length > 0 && { spent }), ...(called && { called }), ...(steps > 0 && { steps }) };
}

/** Counts the model calls of an interrupted turn that does not go on: their money is spent. */
export function planDropped(log: readonly LoggedRecord[]): Pick<CommitEntry, 'spent'> {
  const { spent } = countTurn(log);
  return spent.length > 0 ? { spent } : {};
}

/** Returns the change to the base, unless the events of the turn explain it. */
function planBase(
  log: readonly LoggedRecord[],
  delta: BaseDelta,
  refer: (message: Message) => BasePart,
): CommitEntry['base'] {
  if (delta.type === 'append' && areSame(delta.messages, appendedBy({ log, commit: {} }))) return undefined;
  // A turn that rewrites the base has the events that did it. The base is their fold, so the messages are not stored.
  if (delta.type === 'rewrite' && countedEvents(log).some(({ event }) => event.type !== 'append')) return 'rewrite';
  return { type: delta.type, parts: delta.messages.map(refer) };
}

function areSame(one: readonly Message[], other: readonly Message[]): boolean {
  if (one.length !== other.length) return false;
  return one.every((message, index) => {
    const same = other[index];
    return message === same || (same !== undefined && encodeMessage(message) === encodeMessage(same));
  });
}

/** Returns a function that gives the number of the record with a message, so that it is not stored twice. */
function referTo(log: readonly LoggedRecord[]): (message: Message) => BasePart {
  const brought = new Map<string, { readonly seq: number; readonly message: Message }>();
  for (const { seq, record } of log) {
    if (record.type === 'message' && 'message' in record.event)
      brought.set(record.event.message.id, { seq, message: record.event.message });
  }
  return (message) => {
    const found = brought.get(message.id);
    if (found && areSame([found.message], [message])) return found.seq;
    // Safe: encodeMessage makes the text; dates are strings in JSON.
    return JSON.parse(encodeMessage(message)) as StoredMessage;
  };
}

function storeResult(
  { finishReason, truncated, output, error, responseMessage }: TurnResult,
  refer: (message: Message) => BasePart,
): StoredResult {
  return {
    finishReason,
    ...(truncated === true && { truncated }),
    ...(output !== undefined && { output }),
    ...(error && { error }),
    ...(responseMessage && { response: refer(responseMessage) }),
  };
}

/**
 * The maximum length of a state in the log, in characters. A longer state is written to its file before the commit, and
 * the log has its mark. The history only notes that it changed.
 */
export const LONGEST_STATE = 64 * 1024;

export interface StatesPlan {
  /** All states after the commit, by extension name. */
  readonly texts: ReadonlyMap<string, string>;
  /** Absent when no state changed. */
  readonly changes?: StateChanges;
  /** Names of changed states that are too long for the log. */
  readonly long: readonly string[];
}

/**
 * Plans the changes to the states. `also`: names of states that were committed alone; the next turn has them too, so that
 * reading the history gives them. `longest`: the maximum length of a state in the log.
 */
export function planStates(
  committed: ReadonlyMap<string, string>,
  states: Readonly<Record<string, JsonValue>>,
  also: readonly string[] = [],
  longest = LONGEST_STATE,
): StatesPlan {
  if (committed.size === 0 && also.length === 0 && Object.keys(states).length === 0) {
    return { texts: committed, long: [] };
  }
  const texts = new Map(Object.entries(states).map(([name, state]) => [name, JSON.stringify(state)]));
  const isChanged = (name: string) => texts.get(name) !== committed.get(name);
  const changed = [...texts.keys()].filter((name) => isChanged(name) || also.includes(name));
  const removed = [...new Set([...committed.keys(), ...also])].filter((name) => !texts.has(name));
  if (changed.length + removed.length === 0) return { texts, long: [] };
  const isLong = (name: string) => (texts.get(name)?.length ?? 0) > longest;
  const set = changed.filter((name) => !isLong(name)).map((name) => [name, states[name] ?? null] as const);
  const marks = changed.filter(isLong).map((name) => [name, markOf(texts.get(name) ?? '')] as const);
  const changes = { set: Object.fromEntries(set), long: Object.fromEntries(marks), removed };
  return { texts, changes, long: changed.filter((name) => isLong(name) && isChanged(name)) };
}
