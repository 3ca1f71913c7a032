// Tests random turns. Each turn runs twice: in a conversation, and in plain arrays that are copied before every change.
import { expect, test } from 'bun:test';
import {
  createAssistantMessage,
  createUserMessage,
  GoondanError,
  type Message,
  type MessageEvent,
} from '@goondan/types';
import fc from 'fast-check';
import type { BaseDelta } from './conversation-store.ts';
import { noSecrets } from '../../log/mask-secrets.ts';
import { Conversation } from './conversation.ts';
import { fold } from '../../testing/fold.ts';
import { LlmView } from './llm-view.ts';
import { MessageList } from '../../messages/message-list.ts';
import { pairToolCalls } from './pair-tool-calls.ts';

test('M-01 nextMessages is base + SUM(events) at every moment, through rollbacks and turn after turn', () => {
  fc.assert(
    fc.property(aLength, fc.array(move, { minLength: 5, maxLength: 60 }), (length, moves) => {
      const game = new Game(Array.from({ length }, (_, number) => message(`h${number}`)));
      for (const each of moves) {
        game.play(each);
        game.compare();
      }
      game.compareSnapshots();
    }),
    { numRuns: 500 },
  );
}, 20_000);

/** The lengths of random lists. Most are short. Some are long enough to make the message list close its holes. */
const aLength = fc.oneof({ weight: 4, arbitrary: fc.nat(5) }, { weight: 1, arbitrary: fc.nat(90) });

type Move =
  /** `isAnswered` counts only for `truncate`. */
  | { readonly type: 'emit'; readonly event: MessageEvent; readonly isAnswered: boolean }
  | { readonly type: 'mark' | 'show' | 'purge' }
  /** `survives`: for each event since the mark, whether it survives. The list starts again when it is over. */
  | { readonly type: 'rollback'; readonly survives: readonly boolean[] }
  | { readonly type: 'nextTurn'; readonly hasInput: boolean };

/** The whole state of a turn, in plain arrays. */
interface Plain {
  readonly messages: readonly Message[];
  readonly events: readonly MessageEvent[];
  /** The id of the input, if it is among the messages. */
  readonly inputId: string | undefined;
}

class Game {
  private conversation: Conversation;
  private recorded: MessageEvent[] = [];
  private warned = 0;
  private plain: Plain;
  private base: readonly Message[];
  private ignored = 0;
  private mark: { readonly theirs: number; readonly plain: Plain } | undefined;
  private turns = 0;
  private readonly snapshots: { readonly taken: readonly unknown[]; readonly copy: readonly unknown[] }[] = [];

  constructor(start: readonly Message[]) {
    this.conversation = this.open(new LlmView(MessageList.of(start), 'Be brief.'));
    this.base = start;
    this.plain = { messages: start, events: [], inputId: undefined };
  }

  play(move: Move): void {
    switch (move.type) {
      case 'emit':
        return this.emit(move.event, move.isAnswered);
      case 'purge':
        // This leaves dozens of holes in the message list. The next turn closes them.
        for (const { id } of this.plain.messages.filter((_, place) => place % 3 > 0)) {
          this.emit({ type: 'remove', targetId: id });
        }
        return;
      case 'mark':
        this.mark = { theirs: this.conversation.mark(), plain: this.plain };
        return;
      case 'rollback':
        if (this.mark === undefined) return;
        return this.rollback(this.mark, move.survives);
      case 'show':
        return this.compareShown();
      case 'nextTurn':
        return this.nextTurn(move.hasInput);
    }
  }

  compare(): void {
    const { baseMessages, events, nextMessages } = this.conversation.state;
    expect(nextMessages).toEqual([...this.plain.messages]);
    expect(nextMessages).toEqual([...fold(baseMessages, events)]);
    expect(nextMessages).toEqual([...fold(baseMessages, this.recorded)]);
    expect(events).toEqual([...this.plain.events]);
    expect(baseMessages).toEqual([...this.base]);
    expect(this.warned).toBe(this.ignored);
    for (const taken of [nextMessages, events, baseMessages]) this.snapshots.push({ taken, copy: [...taken] });
  }

  compareSnapshots(): void {
    for (const { taken, copy } of this.snapshots) {
      expect(Object.isFrozen(taken)).toBe(true);
      expect(taken.length === copy.length && taken.every((each, place) => each === copy[place])).toBe(true);
    }
  }

  private open(warm: ConstructorParameters<typeof Conversation>[0]): Conversation {
    return new Conversation(warm, 'Be brief.', {
      record: (event) => void this.recorded.push(event),
      takeFiles: (event) => event,
      mask: noSecrets,
      warn: () => void this.warned++,
    });
  }

  private emit(wish: MessageEvent, isAnswered = true): void {
    const { inputId, messages } = this.plain;
    const meansInput = 'targetId' in wish && wish.targetId === 'the input';
    const event = meansInput ? { ...wish, targetId: inputId ?? 'nobody' } : wish;
    const outcome = outcomeOf(this.plain, event);
    const recorded = this.recorded.length;
    const emit = () => this.conversation.emitOfLayer(event, 'player', undefined, isAnswered);
    if (outcome === 'duplicate') expect(codeOf(emit)).toBe('E_MESSAGE_DUPLICATE');
    else emit();
    if (outcome === 'ignored') this.ignored++;
    if (typeof outcome === 'object') this.plain = outcome;
    const input = messages.find(({ id }) => id === inputId);
    const comesBack = event.type === 'truncate' && !isAnswered && input !== undefined;
    if (comesBack) {
      const after = applyPlainly(this.plain, { type: 'append', message: input });
      this.plain = { ...after, inputId };
    }
    expect(this.recorded.length - recorded).toBe(typeof outcome !== 'object' ? 0 : comesBack ? 2 : 1);
  }

  private rollback(mark: { readonly theirs: number; readonly plain: Plain }, survives: readonly boolean[]): void {
    const { events } = this.plain;
    const indexes = events.flatMap((_, index) =>
      index >= mark.theirs && survives[(index - mark.theirs) % survives.length] === true ? [index] : [],
    );
    this.plain = mark.plain;
    const positions: number[] = [];
    for (const index of indexes) {
      // Safe: `indexes` has only positions of `events`.
      const event = events[index] as MessageEvent;
      const outcome = outcomeOf(this.plain, event);
      if (typeof outcome === 'object') {
        this.plain = outcome;
        positions.push(events.length - index);
      } else if (event.type !== 'remove') this.ignored++;
    }
    const survivors = indexes.map((index) => ({ index, author: { kind: 'runtime' } as const }));
    expect(this.conversation.rollback(mark.theirs, survivors)).toEqual(positions);
    // The records of dropped events do not count.
    this.recorded = [...this.plain.events];
  }

  private nextTurn(hasInput: boolean): void {
    this.compareShown();
    const delta = this.conversation.delta();
    expect(applied(this.base, delta)).toEqual([...this.plain.messages]);
    if (!this.isBaseTouched()) expect(delta.type).toBe('append');
    this.conversation = this.open(this.conversation.end());
    this.base = this.plain.messages;
    this.plain = { messages: this.base, events: [], inputId: undefined };
    this.recorded = [];
    this.mark = undefined;
    if (!hasInput) return;
    const input = message(`input-${++this.turns}`);
    this.conversation.appendInput(input);
    this.plain = { ...applyPlainly(this.plain, { type: 'append', message: input }), inputId: input.id };
  }

  /** Tells whether an event changed the base. If none did, only the new messages need to be written. */
  private isBaseTouched(): boolean {
    const isBase = (id: string) => this.base.some((each) => each.id === id);
    return this.plain.events.some(
      (event) => event.type === 'truncate' || ('targetId' in event && isBase(event.targetId)),
    );
  }

  private compareShown(): void {
    const paired = pairToolCalls(this.plain.messages.map(({ data }) => data));
    expect(this.conversation.state.toLlmMessages()).toEqual([{ role: 'system', content: 'Be brief.' }, ...paired]);
  }
}

/** Returns the expected outcome of an event: the arrays after it, or the reason why nothing changes. */
function outcomeOf(plain: Plain, event: MessageEvent): Plain | 'ignored' | 'duplicate' {
  const has = (id: string) => plain.messages.some((each) => each.id === id);
  if ('targetId' in event && !has(event.targetId)) return 'ignored';
  const keepsId = event.type === 'replace' && event.message.id === event.targetId;
  if ('message' in event && has(event.message.id) && !keepsId) return 'duplicate';
  return applyPlainly(plain, event);
}

function applyPlainly({ messages, events, inputId }: Plain, event: MessageEvent): Plain {
  const after = [...events, event];
  switch (event.type) {
    case 'append':
      return { messages: [...messages, event.message], events: after, inputId };
    case 'remove':
      return { messages: messages.filter(({ id }) => id !== event.targetId), events: after, inputId };
    case 'truncate':
      return { messages: [], events: after, inputId };
    case 'replace':
      return {
        messages: messages.map((each) => (each.id === event.targetId ? event.message : each)),
        events: after,
        inputId: inputId === event.targetId ? event.message.id : inputId,
      };
  }
}

function applied(base: readonly Message[], delta: BaseDelta): Message[] {
  return delta.type === 'append' ? [...base, ...delta.messages] : [...delta.messages];
}

function codeOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof GoondanError) return error.code;
    throw error;
  }
  return 'nothing';
}

function message(id: string): Message {
  return createUserMessage(id, {}, { id, createdAt: new Date(0), source: { type: 'user' } });
}

const anId = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'h0', 'h1', 'h40');
const aTarget = fc.oneof({ weight: 3, arbitrary: anId }, { weight: 1, arbitrary: fc.constant('the input') });
const aMessage: fc.Arbitrary<Message> = fc
  .record({ id: anId, kind: fc.constantFrom('says', 'asks', 'answers'), toolCallId: fc.constantFrom('c1', 'c2', 'c3') })
  .map(({ id, kind, toolCallId }) => {
    const call = { toolCallId, toolName: 'a__tool' };
    const options = { id, createdAt: new Date(0), source: { type: 'assistant', stepId: 'step-0' } } as const;
    if (kind === 'says') return message(id);
    if (kind === 'asks') return createAssistantMessage([{ type: 'tool-call', ...call, input: {} }], {}, options);
    const content = [{ type: 'tool-result' as const, ...call, output: { type: 'text' as const, value: id } }];
    return { ...message(id), data: { role: 'tool' as const, content } };
  });
const anEvent: fc.Arbitrary<MessageEvent> = fc.oneof(
  { weight: 10, arbitrary: aMessage.map((each) => ({ type: 'append' as const, message: each })) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('replace' as const), targetId: aTarget, message: aMessage }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('remove' as const), targetId: aTarget }) },
  { weight: 1, arbitrary: fc.constant({ type: 'truncate' as const }) },
);
const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 15,
    arbitrary: fc.record({ type: fc.constant('emit' as const), event: anEvent, isAnswered: fc.boolean() }),
  },
  { weight: 4, arbitrary: fc.constantFrom<Move[]>({ type: 'mark' }, { type: 'show' }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('rollback' as const),
      survives: fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant<Move>({ type: 'purge' }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('nextTurn' as const), hasInput: fc.boolean() }) },
);
