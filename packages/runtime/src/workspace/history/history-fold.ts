/**
 * Folds the events of a history into a conversation: its messages, the author of each message, and the states of
 * extensions. Every view of a past moment uses this fold.
 */
import type { JsonValue, Message, MessageEvent } from '@goondan/types';
import { defined } from '../../json/defined.ts';
import { MessageList } from '../../messages/message-list.ts';
import type { ArchivedEvent, ArchivedTurn } from '../archive/read-archive.ts';
import type { BlamedMessage } from './blamed-message.ts';
import { addReplaced, type HistoryEntry } from './history-entry.ts';
import type { HistoryStart } from './history-start.ts';
import { ReplacementGroups } from './replacement-groups.ts';

export class HistoryFold {
  readonly #list: MessageList;
  /** Entries by message id. */
  readonly #entries: Map<string, HistoryEntry>;
  readonly #known: Map<string, JsonValue>;
  readonly #unknown: Set<string>;
  readonly #replacedLimit: number;
  /** The turn of the moment, if the moment was given as an input that the turn took while it ran. */
  takenBy: string | undefined;
  #seq: number;
  #version: number;

  /** Starts from a kept moment of the history. `replacedLimit`: how many earlier versions of each message are kept. */
  constructor({ messages, states, seq, version }: HistoryStart, replacedLimit = 0) {
    this.#list = MessageList.of(messages.map(({ message }) => message));
    this.#entries = new Map(messages.map((each) => [each.message.id, { ...each }]));
    this.#known = new Map(Object.entries(states.known));
    this.#unknown = new Set(states.unknown);
    this.#replacedLimit = replacedLimit;
    this.#seq = seq;
    this.#version = version;
  }

  /** The number of the last applied event. */
  get seq(): number {
    return this.#seq;
  }

  /** The number of the commit whose turn was applied last, as a whole. */
  get version(): number {
    return this.#version;
  }

  /**
   * Applies a turn, or only its events up to number `until`. Returns true if the whole turn was applied; only then are
   * its state changes applied as well. `onApplied` is called for each applied event, with its number and the entries it
   * removed.
   */
  apply(
    turn: ArchivedTurn,
    until = Number.POSITIVE_INFINITY,
    onApplied?: (seq: number, event: ArchivedEvent, gone: readonly HistoryEntry[]) => void,
  ): boolean {
    const groups = new ReplacementGroups();
    const events = turn.events.filter(({ counts }) => counts);
    const applied = events.slice(0, Math.max(0, until - this.#seq));
    for (const archived of applied) {
      const gone = this.#applyEvent(turn.turnId, archived, groups);
      onApplied?.(this.#seq, archived, gone);
    }
    for (const { by, gone } of groups.settle()) addReplaced(by, gone, this.#replacedLimit);
    if (applied.length < events.length) return false;
    this.#applyStates(turn);
    this.#version = turn.version;
    return true;
  }

  messages(): readonly Message[] {
    return this.#list.snapshot();
  }

  blamed(): BlamedMessage[] {
    return this.messages().flatMap(({ id }) => {
      const entry = this.#entries.get(id);
      return entry === undefined ? [] : [{ ...entry }];
    });
  }

  states(): HistoryStart['states'] {
    return { known: Object.fromEntries(this.#known), unknown: [...this.#unknown] };
  }

  /** Returns the result as the start of a later fold. The last turn must have been applied completely. */
  toStart(): HistoryStart {
    return { version: this.#version, seq: this.#seq, messages: this.blamed(), states: this.states() };
  }

  #applyEvent(turnId: string, archived: ArchivedEvent, groups: ReplacementGroups): readonly HistoryEntry[] {
    const { event, at, stepId, author, origin } = archived;
    this.#seq += 1;
    const gone = this.#takeReplaced(event);
    this.#list.apply(event);
    if (!('message' in event)) {
      for (const entry of gone) groups.removed(archived, entry);
      return gone;
    }
    const { type: how, message } = event;
    const entry: HistoryEntry = defined({ seq: this.#seq, at, turnId, stepId, author, how, origin, message });
    this.#entries.set(message.id, entry);
    for (const old of gone) addReplaced(entry, old, this.#replacedLimit);
    groups.brought(archived, entry);
    if (author.kind === 'input' && author.again === true) groups.cameBack(message.id);
    return gone;
  }

  /** Deletes the entries of the messages that an event removes or replaces, and returns them. */
  #takeReplaced(event: MessageEvent): HistoryEntry[] {
    if (event.type === 'append') return [];
    const ids = event.type === 'truncate' ? this.#list.snapshot().map(({ id }) => id) : [event.targetId];
    return ids.flatMap((id) => {
      const entry = this.#entries.get(id);
      this.#entries.delete(id);
      return entry === undefined ? [] : [entry];
    });
  }

  #applyStates({ states }: ArchivedTurn): void {
    if (!states) return;
    for (const name of [...states.long, ...states.removed]) this.#known.delete(name);
    for (const name of [...Object.keys(states.set), ...states.removed]) this.#unknown.delete(name);
    for (const name of states.long) this.#unknown.add(name);
    for (const [name, state] of Object.entries(states.set)) this.#known.set(name, state);
  }
}
