/**
 * Writes a history with every kind of turn into a store, and returns the expected conversation after each event. The
 * expected conversation is computed here without the code that reads histories, because a test that shares code with
 * the code under test has the same mistakes.
 */
import {
  type AgentAddress,
  createAssistantMessage,
  createSystemMessage,
  type JsonValue,
  type Message,
  type MessageEvent,
} from '@goondan/types';
import type { EventAuthor, TurnRecord } from '../../agent/conversation/conversation-store.ts';
import type { Journal } from '../journal/journal.ts';
import type { Random } from './seeded-random.ts';

export interface ExpectedEvent {
  readonly turnId: string;
  readonly author: EventAuthor;
  readonly stepId?: string;
  readonly event: MessageEvent;
}

export interface ExpectedHistory {
  /** The events that count, in order. The first event has number 1. */
  readonly events: readonly ExpectedEvent[];
  /** The conversation after each event, by the number of the event; 0 is the empty conversation. */
  readonly conversations: readonly (readonly Message[])[];
  /** The committed extension states after each event, by the number of the event. */
  readonly states: readonly Readonly<Record<string, JsonValue>>[];
  readonly turnIds: readonly string[];
}

type Store = Pick<Journal, 'open' | 'append' | 'commit' | 'reset'>;

/** Writes at least this many events that count. */
export async function writeRandomHistory(
  store: Store,
  instance: AgentAddress,
  random: Random,
  least: number,
): Promise<ExpectedHistory> {
  const writer = new HistoryWriter(store, instance, random);
  while (writer.events.length < least) await writer.next();
  return writer;
}

class HistoryWriter implements ExpectedHistory {
  readonly events: ExpectedEvent[] = [];
  readonly conversations: (readonly Message[])[] = [[]];
  readonly states: Readonly<Record<string, JsonValue>>[] = [{}];
  readonly turnIds: string[] = [];
  #made = 0;

  constructor(
    private readonly store: Store,
    private readonly instance: AgentAddress,
    private readonly random: Random,
  ) {}

  async next(): Promise<void> {
    if (this.random.below(12) === 0) return this.#reset();
    return this.#turn(`t${this.turnIds.length}`);
  }

  get #messages(): readonly Message[] {
    return this.conversations.at(-1) ?? [];
  }

  get #statesNow(): Readonly<Record<string, JsonValue>> {
    return this.states.at(-1) ?? {};
  }

  async #reset(): Promise<void> {
    const isEmpty = this.#messages.length === 0 && Object.keys(this.#statesNow).length === 0;
    await this.store.reset(this.instance);
    if (isEmpty) return;
    const turnId = `reset-${this.turnIds.length + 1}`;
    this.#count({ turnId, author: { kind: 'runtime' }, event: { type: 'truncate' } }, []);
    this.#end(turnId, {});
  }

  async #turn(turnId: string): Promise<void> {
    const opened = await this.store.open(this.instance, turnId);
    const { epoch } = opened;
    const base = await opened.loadBase();
    const draft = new TurnDraft(base, turnId, this.random, () => `m${++this.#made}`);
    draft.write();
    await this.store.append(this.instance, epoch, 0, draft.records);
    for (const { event, author, stepId, messages } of draft.counted)
      this.#count({ turnId, event, author, ...(stepId === undefined ? {} : { stepId }) }, messages);
    const messages = draft.counted.at(-1)?.messages ?? base;
    const isFailed = this.random.below(5) === 0;
    const states = isFailed ? this.#statesNow : this.#otherStates(turnId);
    const result = isFailed
      ? ({ turnId, finishReason: 'error', error: { message: 'as chance has it' } } as const)
      : ({ turnId, finishReason: 'text_response' } as const);
    await this.store.commit(this.instance, epoch, turnId, { type: 'rewrite', messages }, states, result);
    this.#end(turnId, states);
  }

  #otherStates(turnId: string): Readonly<Record<string, JsonValue>> {
    const { memo: _, ...rest } = this.#statesNow;
    const choice = this.random.below(4);
    if (choice === 0) return this.#statesNow;
    if (choice === 1) return rest;
    return choice === 2 ? { ...rest, memo: turnId } : { ...this.#statesNow, counter: [turnId] };
  }

  #count(event: ExpectedEvent, messages: readonly Message[]): void {
    this.events.push(event);
    this.conversations.push(messages);
    this.states.push(this.#statesNow);
  }

  /** Ends a turn. Its state changes take effect at the last event of the turn. */
  #end(turnId: string, states: Readonly<Record<string, JsonValue>>): void {
    this.turnIds.push(turnId);
    this.states[this.states.length - 1] = states;
  }
}

interface Counted {
  readonly event: MessageEvent;
  readonly author: EventAuthor;
  readonly stepId?: string | undefined;
  /** The conversation after the turn. */
  readonly messages: readonly Message[];
}

/** The log of one turn: the input, changes by layers, and steps that are completed, dropped, kept or interrupted. */
class TurnDraft {
  readonly records: TurnRecord[] = [];
  counted: Counted[] = [];
  #inputId: string | undefined;

  constructor(
    private readonly base: readonly Message[],
    private readonly turnId: string,
    private readonly random: Random,
    private readonly nextId: () => string,
  ) {}

  get #messages(): readonly Message[] {
    return this.counted.at(-1)?.messages ?? this.base;
  }

  write(): void {
    const { random } = this;
    if (random.below(10) > 0) this.#emit({ type: 'append', message: this.#text('input') }, { kind: 'input' });
    if (random.below(2) === 0) this.#changeSomething(undefined);
    this.records.push({ type: 'entered', metadata: {}, extensionState: {} });
    for (let step = random.below(3); step >= 0; step -= 1) this.#step(`${this.turnId}.step-${step}`);
    if (random.below(4) === 0) this.#changeSomething(undefined);
  }

  #step(stepId: string): void {
    const { random } = this;
    const outcomes = ['completed', 'completed', 'completed', 'kept', 'dropped', 'cut off'] as const;
    const outcome = outcomes[random.below(outcomes.length)] ?? 'completed';
    const before = this.counted.length;
    const inputBefore = this.#inputId;
    this.#changeSomething(stepId);
    this.#emit({ type: 'append', message: this.#text('reply') }, { kind: 'model' }, stepId);
    if (random.below(2) === 0)
      this.#emit({ type: 'append', message: this.#text('result') }, { kind: 'tool', name: 'a__b' }, stepId);
    if (random.below(2) === 0) this.#shortLived(stepId);
    const note = { type: 'append', message: this.#text('after the failure') } as const;
    const survives = outcome === 'dropped' && random.below(2) === 0;
    if (survives) this.#emit(note, { kind: 'extension', name: 'editor-0' }, stepId);
    const end = { type: 'step', stepId, stepIndex: 0, toolResults: [], metadata: {}, extensionState: {} } as const;
    this.records.push(
      outcome === 'cut off' ? { type: 'resumed' } : { ...end, outcome, ...(survives && { survivors: [1] }) },
    );
    if (outcome !== 'dropped' && outcome !== 'cut off') return;
    this.counted = this.counted.slice(0, before);
    this.#inputId = inputBefore;
    if (survives) this.#count(note, { kind: 'extension', name: 'editor-0' }, stepId);
  }

  #changeSomething(stepId: string | undefined): void {
    const { random } = this;
    const author = { kind: 'extension', name: `editor-${random.below(2)}` } as const;
    const targets = this.#messages;
    const target = targets[random.below(Math.max(1, targets.length))];
    const choice = random.below(8);
    if (choice === 0) return this.#truncate(author, stepId);
    if (choice === 1) return this.#emit({ type: 'append', message: this.#text('note') }, author, stepId);
    if (target === undefined || choice === 2) return;
    if (choice === 3) return this.#emit({ type: 'remove', targetId: target.id }, author, stepId);
    const id = choice === 4 ? target.id : undefined;
    this.#emit({ type: 'replace', targetId: target.id, message: this.#text('other', id) }, author, stepId);
    if (choice < 6) return;
    // Removes several messages, as an extension that writes summaries does.
    for (const { id: gone } of this.#messages.slice(-2 - random.below(3), -1)) {
      this.#emit({ type: 'remove', targetId: gone }, author, stepId);
    }
  }

  #truncate(author: EventAuthor, stepId: string | undefined): void {
    const input = this.#messages.find(({ id }) => id === this.#inputId);
    this.#emit({ type: 'truncate' }, author, stepId);
    if (input === undefined || this.random.below(2) === 0) return;
    this.#emit({ type: 'append', message: input }, { kind: 'input', again: true }, stepId);
  }

  #shortLived(stepId: string): void {
    const id = this.nextId();
    const message = createSystemMessage('for this step', {}, { id, createdAt: new Date(0), lifetime: 'step' });
    this.#emit({ type: 'append', message }, { kind: 'extension', name: 'editor-0' }, stepId);
    this.#emit({ type: 'remove', targetId: id }, { kind: 'runtime' }, stepId);
  }

  #text(what: string, id = this.nextId()): Message {
    const text = `${what} ${id} of ${this.turnId} ${'x'.repeat(this.random.below(40))}`;
    return createAssistantMessage(text, {}, { id, createdAt: new Date(this.random.below(1_000_000)) });
  }

  #emit(event: MessageEvent, author: EventAuthor, stepId?: string): void {
    this.records.push({ type: 'message', event, author, ...(stepId === undefined ? {} : { stepId }) });
    this.#count(event, author, stepId);
  }

  #count(event: MessageEvent, author: EventAuthor, stepId: string | undefined): void {
    if (author.kind === 'input' && 'message' in event) this.#inputId = event.message.id;
    const messages = afterEvent(this.#messages, event);
    if (event.type === 'replace' && event.targetId === this.#inputId) this.#inputId = event.message.id;
    this.counted.push({ event, author, stepId, messages });
  }
}

function afterEvent(messages: readonly Message[], event: MessageEvent): readonly Message[] {
  if (event.type === 'append') return [...messages, event.message];
  if (event.type === 'truncate') return [];
  const index = messages.findIndex(({ id }) => id === event.targetId);
  return [
    ...messages.slice(0, index),
    ...(event.type === 'replace' ? [event.message] : []),
    ...messages.slice(index + 1),
  ];
}
