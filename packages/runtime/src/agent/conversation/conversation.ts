/**
 * Gives one turn access to a conversation. It is the only way to change a conversation.
 *
 * Invariants:
 * 1. `nextMessages` always equals `fold(baseMessages, events)`.
 * 2. Every event that was applied is in the turn's log, in order, before anything that depends on it is durable.
 * 3. After `end()` every event is rejected.
 */
import {
  type ConversationState,
  GoondanError,
  type Message,
  type MessageEvent,
  type MessageLifetime,
  type ModelMessage,
} from '@goondan/types';
import { defined } from '../../json/defined.ts';
import type { Mask } from '../../log/mask-secrets.ts';
import { MessageList } from '../../messages/message-list.ts';
import type { PartOrigin } from '../../trace/part-origins.ts';
import { maskMessageEvent } from '../secrets/mask-message.ts';
import { checkMessageEvent } from './check-message-event.ts';
import type { BaseDelta, EventAuthor, InputOrigin, TakenInput } from './conversation-store.ts';
import { LlmView } from './llm-view.ts';
import type { MessageAuthors } from './message-authors.ts';

/** An event that a rollback keeps. `index`: its index among the events of the turn. */
export interface Survivor {
  readonly index: number;
  readonly author: EventAuthor;
}

export class Conversation {
  private events: MessageEvent[] = [];
  private eventsTaken: readonly MessageEvent[] | undefined;
  /** A copy of the base, made when the base is first read, or just before the first change to it. */
  private baseTaken: readonly Message[] | undefined;
  private baseTouched = false;
  private baseEnd: number;
  /** The inputs of the turn, in all versions that the conversation has had: a rollback brings an older one back. */
  private readonly inputs = new Map<Message, InputOrigin | undefined>();
  private ended = false;
  private ephemerals: Message[] = [];
  /** Maps the old id of a replaced message to the id of its replacement. */
  private readonly replacements = new Map<string, string>();
  readonly state: ConversationState;

  constructor(
    /** The conversation as the model sees it: the view that the previous turn left in memory, or a new view. */
    private view: LlmView,
    private systemPrompt: string | undefined,
    private readonly deps: {
      /** Called with every event that was applied. */
      record(event: MessageEvent, author: EventAuthor, stepId: string | undefined, took?: TakenInput): void;
      /** Replaces the bytes of images and files by references. */
      takeFiles(event: MessageEvent): MessageEvent;
      /** Masks secrets, so that they do not enter the conversation. */
      readonly mask: Mask;
      /** Called with every event that was ignored. */
      warn(message: string, author: EventAuthor): void;
    },
  ) {
    view.list.closeHoles();
    this.baseEnd = view.list.end;
    this.state = this.stateView();
  }

  /** Appends an input: that of the turn, as its first event, or between two steps one that the turn has taken. */
  appendInput(message: Message, from?: InputOrigin, took?: TakenInput): void {
    this.noteInput(
      this.emit({ type: 'append', message }, { kind: 'input', ...defined({ from }) }, undefined, took),
      from,
    );
  }

  /**
   * Emits an event of a layer, in the name of this extension. A `truncate` before the model has answered is followed by
   * events that append the inputs again, because an answer needs its question. Returns the events as recorded.
   */
  emitOfLayer(event: unknown, extension: string, stepId: string | undefined, isAnswered: boolean): MessageEvent[] {
    const author = { kind: 'extension', name: extension } as const;
    const checked = this.check(event, author);
    this.refuseOtherSource(checked, extension);
    const inputs = isAnswered ? [] : this.presentInputs();
    const added = this.add(checked, author, stepId);
    if (added === undefined) return [];
    if (added.type !== 'truncate') return [added];
    const again = inputs.map((message) => {
      const appended = this.add({ type: 'append', message }, this.authorOfInput(message), stepId);
      // Another object, if there is a new secret to mask.
      this.noteInput(appended, this.inputs.get(message));
      return appended;
    });
    return [added, ...again.filter((each) => each !== undefined)];
  }

  /** Checks, applies and records one event. Returns the event as recorded, or `undefined` when it was ignored. */
  emit(event: unknown, author: EventAuthor, stepId: string | undefined, took?: TakenInput): MessageEvent | undefined {
    return this.add(this.check(event, author), author, stepId, took);
  }

  /**
   * Applies events again, without recording them. `inputIds`, `authors`: the inputs of an interrupted turn, and the authors
   * of its events; a replay has no authors, and a rollback neither.
   */
  restore(events: readonly MessageEvent[], inputIds: readonly string[], authors: readonly EventAuthor[] = []): void {
    if (events.length === 0) return;
    const firstAppends = new Set(inputIds);
    // The inputs that a `truncate` removed, if only appends have followed: these bring the inputs back.
    let removed = new Map<string, InputOrigin | undefined>();
    for (const [index, event] of events.entries()) {
      const author = authors[index];
      if (event.type === 'append') {
        const { id } = event.message;
        if (author?.kind === 'input') this.noteInput(event, author.from);
        else if (removed.has(id)) this.noteInput(event, removed.get(id));
        else if (author === undefined && firstAppends.delete(id)) this.noteInput(event, undefined);
      } else {
        const inputs = event.type === 'truncate' && inputIds.length > 0 ? this.presentInputs() : [];
        removed = new Map(inputs.map((message) => [message.id, this.inputs.get(message)]));
      }
      if (this.apply(event) && author !== undefined) this.view.authors.note(event, author);
    }
  }

  /** Changes the system prompt, which is not part of the conversation. Models get it from the next call on. */
  changeSystemPrompt(systemPrompt: string | undefined): void {
    if (systemPrompt === this.systemPrompt) return;
    this.systemPrompt = systemPrompt;
    this.view.changeSystemPrompt(systemPrompt);
  }

  /** Returns a mark for `rollback`: the number of events so far. */
  mark(): number {
    return this.events.length;
  }

  /**
   * Drops the events since the mark, except the survivors that still apply. Returns the positions of those, counted
   * from the last event, which is 1. A rollback is rare (only for a retried step), so this method simply folds again
   * from the base.
   */
  rollback(mark: number, survivors: readonly Survivor[] = []): number[] {
    if (this.events.length === mark) return [];
    const { events } = this;
    const kept = events.slice(0, mark);
    const list = MessageList.of(this.base());
    this.baseTaken = this.base();
    this.baseTouched = false;
    this.baseEnd = list.end;
    this.view = new LlmView(list, this.systemPrompt, this.view.clean, this.view.authors);
    this.events = [];
    this.eventsTaken = undefined;
    this.ephemerals = [];
    this.replacements.clear();
    this.restore(kept, []);
    return survivors.flatMap(({ index, author }) => {
      const event = events[index];
      return event !== undefined && this.applyAgain(event, author) ? [events.length - index] : [];
    });
  }

  get(id: string): Message | undefined {
    return this.view.list.get(id);
  }

  /** Finds a message by any id it had in this turn; a replaced message is also found by its old id. */
  newest(id: string): Message | undefined {
    const replacedBy = this.replacements.get(id);
    return replacedBy === undefined ? this.get(id) : this.newest(replacedBy);
  }

  /**
   * Removes the ephemeral messages of this step or turn. The removals are ordinary events, so the history shows them.
   */
  removeEphemeral(lifetime: MessageLifetime, stepId: string | undefined): void {
    for (const { id } of this.ephemeral(lifetime))
      this.emit({ type: 'remove', targetId: id }, { kind: 'runtime' }, stepId);
  }

  /** Returns the ephemeral messages that this turn added and that still exist. */
  ephemeral(lifetime: MessageLifetime): Message[] {
    return this.ephemerals.filter((message) => message.lifetime === lifetime && this.get(message.id) === message);
  }

  /**
   * Passes the model's view of the conversation to `use`, without copying it. The view stays unchanged until `use`
   * settles.
   */
  show<Value>(use: (messages: readonly ModelMessage[]) => Promise<Value>): Promise<Value> {
    return this.view.lend(use);
  }

  /**
   * Counts the leading messages of a shown array that stay in the conversation: all before the first ephemeral one. The
   * search begins at the end, where the messages of this turn are.
   */
  countStable(shown: readonly ModelMessage[]): number {
    return this.ephemerals.reduce((count, message) => {
      if (this.get(message.id) !== message) return count;
      const place = shown.lastIndexOf(this.view.clean.one(message.data));
      return place < 0 ? count : Math.min(count, place);
    }, shown.length);
  }

  /** The authors of the last events, also of earlier turns in this process. */
  get authors(): MessageAuthors {
    return this.view.authors;
  }

  /**
   * Returns a function that maps a message in the model's current view to its id. It keeps working after a rollback.
   * Messages that the view created have no id.
   */
  idsOfShown(): (shown: ModelMessage) => string | undefined {
    const { view } = this;
    return (shown) => view.idOf(shown);
  }

  /** Returns a function that maps a message that the view created to its origin. */
  originsOfShown(): (shown: ModelMessage) => PartOrigin | undefined {
    const { view } = this;
    return (shown) => view.originOf(shown);
  }

  /** Returns a function that tells whether a message of the conversation is the successor of another one, by their ids. */
  orderOfShown(): (id: string, other: string) => boolean {
    const { view } = this;
    return (id, other) => view.list.follows(id, other);
  }

  /** Returns the change to the base. If the turn only appended messages, the change contains just these. */
  delta(): BaseDelta {
    const { list } = this.view;
    if (this.baseTouched) return { type: 'rewrite', messages: list.snapshot() };
    return { type: 'append', messages: list.between(this.baseEnd, list.end) };
  }

  /** Rejects all further events. Returns the view for the next turn. */
  end(): LlmView {
    this.ended = true;
    return this.view;
  }

  private check(event: unknown, author: EventAuthor): MessageEvent {
    if (this.ended) throw endedError(author);
    return checkMessageEvent(event, author.kind === 'extension' ? author.name : undefined);
  }

  private add(
    event: MessageEvent,
    author: EventAuthor,
    stepId: string | undefined,
    took?: TakenInput,
  ): MessageEvent | undefined {
    const checked = withoutSecrets(this.deps.takeFiles(event), this.deps.mask);
    this.refuseDuplicate(checked);
    if (!this.apply(checked)) {
      const target = 'targetId' in checked ? checked.targetId : '';
      this.deps.warn(`${checked.type} of message "${target}" was ignored: there is no such message.`, author);
      return undefined;
    }
    this.view.authors.note(checked, author);
    this.deps.record(checked, author, stepId, took);
    return checked;
  }

  private apply(event: MessageEvent): boolean {
    if (event.type !== 'append') this.rememberBase(event);
    const replaced = event.type === 'replace' ? this.get(event.targetId) : undefined;
    if (!this.view.list.apply(event)) return false;
    this.events.push(event);
    this.eventsTaken = undefined;
    if ('message' in event) this.noteMessage(event, replaced);
    return true;
  }

  /**
   * Applies an event after a rollback. A message for the failed step only is over. An event that no longer applies is
   * ignored, with a warning; a `remove` needs none, because the rollback has removed its message.
   */
  private applyAgain(event: MessageEvent, author: EventAuthor): boolean {
    if ('message' in event && event.message.lifetime === 'step') return false;
    if (!this.isDuplicate(event) && this.apply(event)) return true;
    if (event.type !== 'remove') {
      this.deps.warn(`${event.type} was ignored: it needs an event of a failed step, and the step runs again.`, author);
    }
    return false;
  }

  private noteMessage(event: Extract<MessageEvent, { message: Message }>, replaced: Message | undefined): void {
    const { message } = event;
    if (message.lifetime !== undefined) this.ephemerals.push(message);
    // The id of a message that is gone may be used again. From now on it belongs to the new message.
    this.replacements.delete(message.id);
    if (event.type !== 'replace') return;
    if (event.targetId !== message.id) this.replacements.set(event.targetId, message.id);
    if (replaced !== undefined && this.inputs.has(replaced)) this.inputs.set(message, this.inputs.get(replaced));
  }

  private noteInput(event: MessageEvent | undefined, from: InputOrigin | undefined): void {
    if (event !== undefined && 'message' in event) this.inputs.set(event.message, from);
  }

  /** Returns the inputs of the turn that are in the conversation now, in their order. */
  private presentInputs(): Message[] {
    const { list } = this.view;
    const present = [...this.inputs.keys()].filter((message) => list.get(message.id) === message);
    const placeOf = ({ id }: Message) => list.placeOf(id) ?? 0;
    return present.toSorted((one, other) => placeOf(one) - placeOf(other));
  }

  /** Returns the author of an input that comes back: its sender, or the extension that has replaced the input. */
  private authorOfInput(message: Message): EventAuthor {
    const from = this.inputs.get(message);
    return this.authors.of(message.id) ?? { kind: 'input', ...defined({ from }), again: true };
  }

  /** Copies the base before an event changes it. */
  private rememberBase(event: Exclude<MessageEvent, { type: 'append' }>): void {
    const place = event.type === 'truncate' ? 0 : this.view.list.placeOf(event.targetId);
    if (place === undefined || place >= this.baseEnd) return;
    this.baseTaken = this.base();
    this.baseTouched = true;
  }

  private base(): readonly Message[] {
    return this.baseTaken ?? Object.freeze(this.view.list.between(0, this.baseEnd));
  }

  /**
   * Throws if the message of an extension names another one as its source. A layer may change a message of another
   * extension, or append it again.
   */
  private refuseOtherSource(event: MessageEvent, extension: string): void {
    if (!('message' in event)) return;
    const { id, source } = event.message;
    if (source.type !== 'extension' || source.extensionName === extension) return;
    const copied = event.type === 'replace' ? event.targetId : id;
    const known = [...this.base(), ...this.events.flatMap((each) => ('message' in each ? [each.message] : []))];
    const isOf = (message: Message) =>
      message.source.type === 'extension' && message.source.extensionName === source.extensionName;
    if (known.some((message) => message.id === copied && isOf(message))) return;
    throw new GoondanError(
      'E_MESSAGE_INVALID',
      `Not a message event: message.source names the extension "${source.extensionName}", but "${extension}" emits the message.`,
      { suggestion: 'Leave out `source`. For another extension, pass its `identity` to `ctx.emitMessageEvent`.' },
    );
  }

  private refuseDuplicate(event: MessageEvent): void {
    if (!('message' in event) || !this.isDuplicate(event)) return;
    throw new GoondanError('E_MESSAGE_DUPLICATE', `There is already a message with the id "${event.message.id}".`);
  }

  private isDuplicate(event: MessageEvent): boolean {
    if (!('message' in event) || this.get(event.message.id) === undefined) return false;
    // A `replace` whose target does not exist is ignored, whatever message it contains.
    return event.type !== 'replace' || (event.targetId !== event.message.id && this.get(event.targetId) !== undefined);
  }

  private stateView(): ConversationState {
    const conversation = this;
    const view: { readonly [Key in keyof ConversationState]: Readonly<ConversationState[Key]> } = Object.freeze({
      get baseMessages(): readonly Message[] {
        conversation.baseTaken ??= conversation.base();
        return conversation.baseTaken;
      },
      get events(): readonly MessageEvent[] {
        conversation.eventsTaken ??= Object.freeze(conversation.events.slice());
        return conversation.eventsTaken;
      },
      get nextMessages(): readonly Message[] {
        return conversation.view.list.snapshot();
      },
      toLlmMessages: (): ModelMessage[] => conversation.view.messages(),
    });
    // Safe: the contract types these arrays as mutable, and the arrays are frozen.
    return view as ConversationState;
  }
}

/** Masks secrets in an event. The result is frozen, like every checked event. */
function withoutSecrets(event: MessageEvent, mask: Mask): MessageEvent {
  const masked = maskMessageEvent(event, mask);
  return masked === event ? event : checkMessageEvent(masked);
}

function endedError(author: EventAuthor): GoondanError {
  const who = author.kind === 'extension' ? `Extension "${author.name}"` : 'Something';
  return new GoondanError('E_TURN_ENDED', `${who} emitted a message event after the turn had ended.`);
}
