import { describe, expect, test } from 'bun:test';
import { createUserMessage, type Message, type MessageEvent } from '@goondan/types';
import fc from 'fast-check';
import { fold } from './fold.ts';

const message = (id: string, text = id): Message => createUserMessage(text, {}, { id, createdAt: new Date(0) });
const append = (id: string): MessageEvent => ({ type: 'append', message: message(id) });
const replace = (targetId: string, id: string): MessageEvent => ({ type: 'replace', targetId, message: message(id) });
const remove = (targetId: string): MessageEvent => ({ type: 'remove', targetId });
const truncate: MessageEvent = { type: 'truncate' };

const base = ['a', 'b', 'c'].map((id) => message(id));
const idsOf = (messages: readonly Message[]) => messages.map(({ id }) => id).join('');

describe('the four events', () => {
  test.each<[what: string, events: MessageEvent[], ids: string]>([
    ['append adds at the end', [append('d'), append('e')], 'abcde'],
    ['replace keeps the place, and the new id counts', [replace('b', 'x'), remove('x')], 'ac'],
    ['replace may keep the id', [replace('b', 'b')], 'abc'],
    ['a replaced id is free again', [replace('b', 'x'), append('b')], 'axcb'],
    ['remove takes one out', [remove('b')], 'ac'],
    ['a removed id may be used again, at the end', [remove('a'), append('a')], 'bca'],
    ['truncate takes everything', [append('d'), truncate, append('e')], 'e'],
  ])('M-04 %s', (_what, events, ids) => {
    expect(idsOf(fold(base, events))).toBe(ids);
  });

  test('M-08 an unknown target changes nothing', () => {
    expect(idsOf(fold(base, [remove('x'), replace('x', 'y'), append('d')]))).toBe('abcd');
  });

  test('M-04 replace stores the new message, not only its id', () => {
    const edited = message('b', 'edited');
    expect(fold(base, [{ type: 'replace', targetId: 'b', message: edited }])[1]).toBe(edited);
  });
});

describe('any sequence of events', () => {
  test('M-01 base + SUM(events) equals the same events applied to a plain array', () => {
    fc.assert(
      fc.property(baseIds, wishes, (ids, wished) => {
        const start = ids.map((id) => message(id));
        const events = possible(start, wished);
        expect(fold(start, events)).toEqual(foldNaively(start, events));
      }),
      { numRuns: 500 },
    );
  });

  test('M-01 folding in two parts equals folding once', () => {
    fc.assert(
      fc.property(baseIds, wishes, fc.nat(40), (ids, wished, cut) => {
        const start = ids.map((id) => message(id));
        const events = possible(start, wished);
        expect(fold(fold(start, events.slice(0, cut)), events.slice(cut))).toEqual(fold(start, events));
      }),
    );
  });

  test('M-02 the base stays unchanged, and the result is frozen', () => {
    const before = [...base];
    const messages = fold(base, [replace('a', 'x'), remove('b'), append('d')]);
    expect(base).toEqual(before);
    expect(Object.isFrozen(messages)).toBe(true);
  });
});

interface Wish {
  readonly type: MessageEvent['type'];
  readonly targetId: string;
  readonly id: string;
}

const anId = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
const baseIds = fc.uniqueArray(anId);
const wishes: fc.Arbitrary<Wish[]> = fc.array(
  fc.record({
    type: fc.constantFrom<MessageEvent['type'][]>(
      'append',
      'append',
      'append',
      'replace',
      'replace',
      'remove',
      'truncate',
    ),
    targetId: anId,
    id: anId,
  }),
  { maxLength: 40 },
);

/**
 * Converts random wishes to events. Leaves out events that would use an id twice, because a conversation refuses them.
 */
function possible(start: readonly Message[], wished: readonly Wish[]): MessageEvent[] {
  const events: MessageEvent[] = [];
  wished.forEach(({ type, targetId, id }, number) => {
    const current = foldNaively(start, events).map((each) => each.id);
    const brings = message(id, `text ${number}`);
    if (type === 'append' && !current.includes(id)) events.push({ type, message: brings });
    if (type === 'replace' && (id === targetId || !current.includes(id) || !current.includes(targetId))) {
      events.push({ type, targetId, message: brings });
    }
    if (type === 'remove') events.push({ type, targetId });
    if (type === 'truncate') events.push({ type });
  });
  return events;
}

/** Folds the events with a second, simpler implementation. */
function foldNaively(start: readonly Message[], events: readonly MessageEvent[]): Message[] {
  let messages = [...start];
  for (const event of events) {
    if (event.type === 'append') messages = [...messages, event.message];
    if (event.type === 'remove') messages = messages.filter(({ id }) => id !== event.targetId);
    if (event.type === 'truncate') messages = [];
    if (event.type === 'replace' && messages.some(({ id }) => id === event.targetId)) {
      messages = messages.map((each) => (each.id === event.targetId ? event.message : each));
    }
  }
  return messages;
}
