import { describe, expect, test } from 'bun:test';
import {
  createSystemMessage,
  createUserMessage,
  type GoondanError,
  type Message,
  type MessageEvent,
  type NewMessage,
  type MessageLifetime,
} from '@goondan/types';
import type { EventAuthor } from './conversation-store.ts';
import { growingMask, type Mask, noSecrets } from '../../log/mask-secrets.ts';
import { Conversation } from './conversation.ts';
import { LlmView } from './llm-view.ts';
import { MessageList } from '../../messages/message-list.ts';

const extension: EventAuthor = { kind: 'extension', name: 'polite' };
const message = (id: string, text = id): NewMessage =>
  createUserMessage(text, {}, { id, createdAt: new Date(0), source: { type: 'user' } });
const append = (id: string): MessageEvent => ({ type: 'append', message: message(id) });
const idsOf = (messages: readonly Message[]) => messages.map(({ id }) => id).join('');

function warmOf(messages: readonly Message[]): LlmView {
  return new LlmView(MessageList.of(messages), 'Be brief.');
}

interface Opened {
  readonly conversation: Conversation;
  readonly recorded: { event: MessageEvent; author: EventAuthor; stepId: string | undefined }[];
  readonly warnings: { message: string; author: EventAuthor }[];
  readonly emit: (event: unknown) => MessageEvent | undefined;
  /** Emits as a layer does, before the model has answered. */
  readonly layerEmits: (event: unknown, about?: { readonly isAnswered: boolean }) => MessageEvent[];
}

function open(warm: LlmView, mask: Mask = noSecrets): Opened {
  const recorded: Opened['recorded'] = [];
  const warnings: Opened['warnings'] = [];
  const conversation = new Conversation(warm, 'Be brief.', {
    record: (event, author, stepId) => void recorded.push({ event, author, stepId }),
    takeFiles: (event) => event,
    mask,
    warn: (text, author) => void warnings.push({ message: text, author }),
  });
  return {
    conversation,
    recorded,
    warnings,
    emit: (event) => conversation.emit(event, extension, 'step-0'),
    layerEmits: (event, { isAnswered } = { isAnswered: false }) =>
      conversation.emitOfLayer(event, 'polite', 'step-0', isAnswered),
  };
}

const opened = (...ids: string[]) => open(warmOf(ids.map((id) => message(id))));

describe('an emitted event', () => {
  test('M-03 is in events and in nextMessages at once, in order, and is recorded with its author', () => {
    const { conversation, recorded, emit } = opened('a');
    conversation.appendInput(message('i'));
    emit(append('b'));
    emit({ type: 'remove', targetId: 'a' });
    expect(conversation.state.events.map(({ type }) => type)).toEqual(['append', 'append', 'remove']);
    expect(idsOf(conversation.state.nextMessages)).toBe('ib');
    expect(recorded.map(({ event }) => event)).toEqual([...conversation.state.events]);
    expect(recorded.map(({ author, stepId }) => [author, stepId])).toEqual([
      [{ kind: 'input' }, undefined],
      [extension, 'step-0'],
      [extension, 'step-0'],
    ]);
  });

  test('M-03 changes no snapshot that was taken before, and a snapshot cannot be changed', () => {
    const { conversation, emit } = opened('a');
    const { events, nextMessages, baseMessages } = conversation.state;
    emit(append('b'));
    emit({ type: 'remove', targetId: 'a' });
    expect([events.length, idsOf(nextMessages), idsOf(baseMessages)]).toEqual([0, 'a', 'a']);
    const arrays = [events, nextMessages, baseMessages, conversation.state.events, conversation.state.nextMessages];
    expect(arrays.map((array) => Object.isFrozen(array))).toEqual(Array(5).fill(true));
    expect(() => Object.assign(conversation.state, { nextMessages: [] })).toThrow(TypeError);
    expect(() => Object.assign(conversation.state, { toLlmMessages: () => [] })).toThrow(TypeError);
  });

  test('M-04 is a frozen copy: later changes to the caller’s object have no effect, and that object stays unchanged', () => {
    const { conversation, emit } = opened();
    const mine = message('a', 'before');
    const counted = emit({ type: 'append', message: mine });
    mine.metadata.pinned = true;
    const [stored] = conversation.state.nextMessages;
    expect(stored?.metadata).toEqual({});
    expect(stored).toBe((counted as { message: Message }).message);
    expect(stored).not.toBe(mine);
    expect(Object.isFrozen(stored?.metadata)).toBe(true);
  });
});

describe('the base', () => {
  test.each<[what: string, event: MessageEvent]>([
    ['append', append('x')],
    ['replace', { type: 'replace', targetId: 'a', message: message('x') }],
    ['remove', { type: 'remove', targetId: 'b' }],
    ['truncate', { type: 'truncate' }],
  ])('M-02 is the same after %s, also when it was not read before', (_what, event) => {
    const unseen = opened('a', 'b', 'c');
    unseen.emit(event);
    expect(idsOf(unseen.conversation.state.baseMessages)).toBe('abc');
    const seen = opened('a', 'b', 'c');
    const before = seen.conversation.state.baseMessages;
    seen.emit(event);
    seen.conversation.rollback(0);
    expect(seen.conversation.state.baseMessages).toBe(before);
    expect(idsOf(seen.conversation.state.nextMessages)).toBe('abc');
    expect(seen.conversation.state.events).toEqual([]);
  });
});

describe('truncate', () => {
  const from = { kind: 'cli', name: 'gdn' } as const;

  test('M-04 removes everything; before an answer, the input comes back with an event of its own', () => {
    const { conversation, recorded, layerEmits } = opened('a');
    conversation.appendInput(message('i'), from);
    layerEmits(append('b'));
    expect(layerEmits({ type: 'truncate' }).map(({ type }) => type)).toEqual(['truncate', 'append']);
    expect(idsOf(conversation.state.nextMessages)).toBe('i');
    expect(conversation.state.events.map(({ type }) => type)).toEqual(['append', 'append', 'truncate', 'append']);
    expect(recorded.map(({ event }) => event)).toEqual([...conversation.state.events]);
    expect(recorded.at(-1)).toMatchObject({ author: { kind: 'input', from, again: true }, stepId: 'step-0' });
    expect(layerEmits({ type: 'truncate' }, { isAnswered: true })).toEqual([{ type: 'truncate' }]);
    expect(conversation.state.nextMessages).toEqual([]);
  });

  test('M-04 brings a replaced input back as it is, in the name of the extension that replaced it', () => {
    const { conversation, recorded, layerEmits } = opened('a');
    conversation.appendInput(message('i'));
    layerEmits({ type: 'replace', targetId: 'i', message: message('j', 'masked') });
    layerEmits(append('c'));
    layerEmits({ type: 'truncate' });
    expect(conversation.state.nextMessages).toMatchObject([{ id: 'j', data: { content: 'masked' } }]);
    expect(recorded.at(-1)?.author).toEqual(extension);
  });

  test('M-04 brings no message back that has a former id of the input', () => {
    const { conversation, layerEmits } = opened('a');
    conversation.appendInput(message('i'));
    layerEmits({ type: 'replace', targetId: 'i', message: message('j') });
    layerEmits(append('i'));
    layerEmits({ type: 'truncate' });
    expect(idsOf(conversation.state.nextMessages)).toBe('j');
  });

  test.each([
    ['i', 'i'],
    ['j', 'k'],
  ])('M-04 brings the input %s back as it is after the rollback of a replace by %s', (id, other) => {
    const { conversation, layerEmits } = opened('a');
    conversation.appendInput(message('i'));
    if (id !== 'i') layerEmits({ type: 'replace', targetId: 'i', message: message(id) });
    const mark = conversation.mark();
    layerEmits({ type: 'replace', targetId: id, message: message(other, 'dropped') });
    conversation.rollback(mark);
    layerEmits({ type: 'truncate' });
    expect(conversation.state.nextMessages).toMatchObject([{ id, data: { content: id } }]);
  });

  test.each(['resumed', 'replayed'])('M-04 brings an input back again in a %s turn, also if it was replaced', (how) => {
    const before = opened('a');
    before.conversation.appendInput(message('i'), from);
    before.conversation.appendInput(message('n'), from);
    before.layerEmits({ type: 'replace', targetId: 'i', message: message('i', 'masked') });
    before.layerEmits({ type: 'truncate' });
    const after = opened('a');
    const events = before.recorded.map(({ event }) => structuredClone(event));
    const authors = how === 'resumed' ? before.recorded.map(({ author }) => author) : [];
    after.conversation.restore(events, ['i', 'n'], authors);
    after.layerEmits({ type: 'truncate' });
    expect(idsOf(after.conversation.state.nextMessages)).toBe('in');
    if (how === 'resumed')
      expect(after.recorded.slice(1).map(({ author }) => author)).toEqual(
        before.recorded.slice(4).map(({ author }) => author),
      );
  });

  test.each(['live', 'resumed', 'replayed', 'rolled back'])(
    'M-04 a message with the id of a removed input is no input in a %s turn',
    (how) => {
      const turn = opened('a');
      turn.conversation.appendInput(message('i'));
      for (const event of [{ type: 'truncate' }, { type: 'remove', targetId: 'i' }, append('i')])
        turn.layerEmits(event);
      const isNew = how === 'resumed' || how === 'replayed';
      const { conversation, layerEmits } = isNew ? opened('a') : turn;
      const events = turn.recorded.map(({ event }) => event);
      const authors = how === 'resumed' ? turn.recorded.map(({ author }) => author) : [];
      if (isNew) conversation.restore(events, ['i'], authors);
      const mark = conversation.mark();
      layerEmits(append('z'));
      if (how === 'rolled back') conversation.rollback(mark);
      layerEmits({ type: 'truncate' });
      expect(idsOf(conversation.state.nextMessages)).toBe('');
    },
  );

  test('M-04 brings the input back again that has a new secret', () => {
    const mask = growingMask([]);
    const { conversation, layerEmits } = open(warmOf([]), mask);
    conversation.appendInput(message('i', 'my secret-word'));
    mask.add(['secret-word']);
    for (let step = 0; step < 2; step++) layerEmits({ type: 'truncate' });
    expect(idsOf(conversation.state.nextMessages)).toBe('i');
  });

  test('M-04 brings the input back in the name of its sender after the rollback of another event', () => {
    const { conversation, recorded, layerEmits } = opened('a');
    conversation.appendInput(message('i'), from);
    layerEmits({ type: 'truncate' });
    const mark = conversation.mark();
    layerEmits(append('z'));
    conversation.rollback(mark);
    layerEmits({ type: 'truncate' });
    expect(recorded.at(-1)?.author).toEqual({ kind: 'input', from, again: true });
  });

  test('M-04 brings back the inputs of a resumed turn, also one that it took, in their order', () => {
    const { conversation, layerEmits } = opened('a');
    conversation.restore([append('i'), append('b'), append('n')], ['n', 'i']);
    layerEmits({ type: 'truncate' });
    expect(idsOf(conversation.state.nextMessages)).toBe('in');
  });

  test('M-04 brings back the inputs of a resumed turn in the name of their senders, or of who replaced them', () => {
    const { conversation, recorded, layerEmits } = opened('a');
    const replaced: MessageEvent = { type: 'replace', targetId: 'i', message: message('i', 'masked') };
    const input: EventAuthor = { kind: 'input', from };
    conversation.restore([append('i'), append('n'), replaced], ['i', 'n'], [input, input, extension]);
    layerEmits({ type: 'truncate' });
    expect(recorded.slice(1).map(({ author }) => author)).toEqual([extension, { ...input, again: true }]);
  });

  test.each<[what: string, prepare: (opened: Opened) => void]>([
    ['without an input', () => undefined],
    [
      'whose input was removed',
      ({ conversation, layerEmits }) => {
        conversation.appendInput(message('i'));
        layerEmits({ type: 'remove', targetId: 'i' });
      },
    ],
  ])('M-04 removes everything in a turn %s', (_what, prepare) => {
    const turn = opened('a');
    prepare(turn);
    turn.layerEmits(append('b'));
    expect(turn.layerEmits({ type: 'truncate' })).toEqual([{ type: 'truncate' }]);
    expect(turn.conversation.state.nextMessages).toEqual([]);
  });
});

describe('events that are refused or ignored', () => {
  const refused = (action: () => unknown) => {
    try {
      action();
      return 'nothing';
    } catch (error) {
      // For an error without a code this returns undefined, which fails the test.
      return (error as Partial<GoondanError>).code;
    }
  };

  test('a duplicate id, by append or by replace, is refused; the conversation stays unchanged', () => {
    const { conversation, recorded, emit } = opened('a', 'b');
    expect(refused(() => emit(append('a')))).toBe('E_MESSAGE_DUPLICATE');
    expect(refused(() => emit({ type: 'replace', targetId: 'a', message: message('b') }))).toBe('E_MESSAGE_DUPLICATE');
    expect(refused(() => conversation.appendInput(message('b')))).toBe('E_MESSAGE_DUPLICATE');
    expect([idsOf(conversation.state.nextMessages), recorded.length, conversation.state.events.length]).toEqual([
      'ab',
      0,
      0,
    ]);
  });

  test('an id that is free again is accepted, and so is a replace that keeps its id', () => {
    const { conversation, emit } = opened('a', 'b');
    emit({ type: 'replace', targetId: 'a', message: message('a', 'new') });
    emit({ type: 'remove', targetId: 'b' });
    emit(append('b'));
    emit({ type: 'replace', targetId: 'a', message: message('c') });
    emit(append('a'));
    expect(idsOf(conversation.state.nextMessages)).toBe('cba');
  });

  test('M-09 the message of another extension is accepted again, also one of an earlier turn', () => {
    const source = { type: 'extension', extensionName: 'other' } as const;
    const theirs = createSystemMessage('theirs', {}, { id: 'a', source });
    const { conversation, layerEmits } = open(warmOf([theirs]));
    layerEmits({ type: 'remove', targetId: 'a' });
    layerEmits({ type: 'append', message: theirs });
    expect(conversation.state.nextMessages).toMatchObject([{ id: 'a', source }]);
    const forged = { ...theirs, id: 'b' };
    expect(refused(() => layerEmits({ type: 'append', message: forged }))).toBe('E_MESSAGE_INVALID');
  });

  test('a malformed event is refused; the conversation stays unchanged', () => {
    const { conversation, recorded, emit } = opened('a');
    const late = { type: 'append', message: { ...message('x'), createdAt: new Date('never') } };
    expect(refused(() => emit(late))).toBe('E_MESSAGE_INVALID');
    expect([idsOf(conversation.state.nextMessages), recorded.length, conversation.state.events.length]).toEqual([
      'a',
      0,
      0,
    ]);
  });

  test('M-08 an event with an unknown target is ignored: it is not in events, not recorded, and logged as a warning', () => {
    const { conversation, recorded, warnings, emit } = opened('a');
    const before = conversation.state.nextMessages;
    expect(emit({ type: 'remove', targetId: 'gone' })).toBeUndefined();
    expect(emit({ type: 'replace', targetId: 'gone', message: message('x') })).toBeUndefined();
    // The new message has a duplicate id. But the event is ignored and not refused, because there is no message to
    // replace.
    expect(emit({ type: 'replace', targetId: 'gone', message: message('a') })).toBeUndefined();
    expect(conversation.state.nextMessages).toBe(before);
    expect([recorded, [...conversation.state.events]]).toEqual([[], []]);
    expect(warnings.map(({ author }) => author)).toEqual([extension, extension, extension]);
    expect(warnings[0]?.message).toBe('remove of message "gone" was ignored: there is no such message.');
  });

  test('M-12 every event after the end of the turn is refused, and does not reach the next turn', () => {
    const first = opened('a');
    first.emit(append('b'));
    const second = open(first.conversation.end());
    expect(refused(() => first.emit(append('late')))).toBe('E_TURN_ENDED');
    expect(refused(() => first.emit({ type: 'truncate' }))).toBe('E_TURN_ENDED');
    expect(refused(() => first.emit('nonsense'))).toBe('E_TURN_ENDED');
    expect(() => first.emit(append('late'))).toThrow('Extension "polite" emitted');
    expect([idsOf(second.conversation.state.nextMessages), second.recorded.length]).toEqual(['ab', 0]);
    expect(first.recorded).toHaveLength(1);
  });
});

describe('finding messages', () => {
  test('a replaced message is found under every id it had in this turn', () => {
    const { conversation, emit } = opened('a');
    emit({ type: 'replace', targetId: 'a', message: message('b') });
    emit({ type: 'replace', targetId: 'b', message: message('c', 'newest') });
    expect(conversation.newest('a')).toEqual(message('c', 'newest'));
    expect(conversation.newest('b')).toBe(conversation.get('c'));
    emit(append('a'));
    expect(conversation.newest('a')?.id).toBe('a');
    emit({ type: 'remove', targetId: 'c' });
    expect(conversation.newest('b')).toBeUndefined();
  });

  test('ephemeral lists the messages that this turn added and that still exist', () => {
    const fading = (id: string, lifetime: MessageLifetime) => createSystemMessage(id, {}, { id, lifetime });
    const { conversation, emit } = open(warmOf([fading('old', 'step')]));
    for (const id of ['a', 'b', 'c']) emit({ type: 'append', message: fading(id, 'step') });
    emit({ type: 'append', message: fading('t', 'turn') });
    const mark = conversation.mark();
    emit({ type: 'remove', targetId: 'a' });
    emit({ type: 'replace', targetId: 'b', message: message('b') });
    expect(idsOf(conversation.ephemeral('step'))).toBe('c');
    expect(idsOf(conversation.ephemeral('turn'))).toBe('t');
    conversation.rollback(mark);
    expect(idsOf(conversation.ephemeral('step'))).toBe('abc');
  });
});
