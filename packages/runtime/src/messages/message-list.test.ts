import { describe, expect, test } from 'bun:test';
import { createUserMessage, type Message, type MessageEvent } from '@goondan/types';
import fc from 'fast-check';
import { MessageList } from './message-list.ts';

const message = (id: string): Message => createUserMessage(id, {}, { id, createdAt: new Date(0) });
const append = (id: string): MessageEvent => ({ type: 'append', message: message(id) });
const replace = (targetId: string, id: string): MessageEvent => ({ type: 'replace', targetId, message: message(id) });
const remove = (targetId: string): MessageEvent => ({ type: 'remove', targetId });
const truncate: MessageEvent = { type: 'truncate' };

const listOf = (...ids: string[]) => MessageList.of(ids.map((id) => message(id)));
const idsOf = (messages: readonly Message[]) => messages.map(({ id }) => id).join('');
const numbered = (count: number) => Array.from({ length: count }, (_, number) => `m${number}`);

describe('places', () => {
  test('a message keeps its place when others change', () => {
    const list = listOf('a', 'b', 'c');
    list.apply(remove('a'), undefined);
    list.apply(replace('b', 'x'), undefined);
    list.apply(append('d'), undefined);
    expect([list.placeOf('x'), list.placeOf('c'), list.placeOf('d'), list.end]).toEqual([1, 2, 3, 4]);
    expect([list.at(0), list.placeOf('a'), list.placeOf('b'), list.get('b')]).toEqual(Array(4).fill(undefined));
    expect(list.at(1)?.id).toBe('x');
    expect(list.get('x')).toBe(list.at(1));
  });

  test('a message follows the one before it, also over removed messages', () => {
    const list = listOf('a', 'b', 'c', 'd');
    expect([list.follows('b', 'a'), list.follows('c', 'a'), list.follows('a', 'b')]).toEqual([true, false, false]);
    expect([list.follows('a', 'a'), list.follows('x', 'a'), list.follows('b', 'x')]).toEqual([false, false, false]);
    list.apply(remove('b'), undefined);
    expect([list.follows('c', 'a'), list.follows('d', 'a'), list.follows('b', 'a')]).toEqual([true, false, false]);
  });

  test('a range of places skips removed messages', () => {
    const list = listOf('a', 'b', 'c', 'd');
    list.apply(remove('b'), undefined);
    expect(idsOf(list.between(0, 3))).toBe('ac');
    expect(idsOf(list.between(3, list.end))).toBe('d');
  });

  test('truncate starts again, with the input alone', () => {
    const list = listOf('a', 'b', 'c');
    list.apply(truncate, ['b']);
    expect([idsOf(list.snapshot()), list.placeOf('b'), list.end]).toEqual(['b', 0, 1]);
    list.apply(truncate, undefined);
    expect([idsOf(list.snapshot()), list.end]).toEqual(['', 0]);
  });

  test('Y-08 truncate keeps every input of the running turn, in the order of the conversation', () => {
    const list = listOf('a', 'b', 'c', 'd');
    list.apply(truncate, ['c', 'a', 'x']);
    expect([idsOf(list.snapshot()), list.placeOf('c'), list.end]).toEqual(['ac', 1, 2]);
  });

  test('M-08 apply tells whether anything changed: an unknown target changes nothing', () => {
    const list = listOf('a');
    const before = list.snapshot();
    expect(list.apply(remove('x'), undefined)).toBe(false);
    expect(list.apply(replace('x', 'y'), undefined)).toBe(false);
    expect(list.snapshot()).toBe(before);
    expect(list.takeLowestRewrite()).toBe(Number.POSITIVE_INFINITY);
    expect([append('b'), replace('a', 'x'), remove('b'), truncate].map((event) => list.apply(event, ['x']))).toEqual(
      Array(4).fill(true),
    );
  });
});

describe('snapshots', () => {
  test('a snapshot is immutable, and stays the same object until a change', () => {
    const list = listOf('a', 'b');
    const first = list.snapshot();
    expect(Object.isFrozen(first)).toBe(true);
    expect(list.snapshot()).toBe(first);
    for (const event of [append('c'), replace('a', 'x'), remove('b'), truncate]) {
      const before = list.snapshot();
      list.apply(event, undefined);
      expect(list.snapshot()).not.toBe(before);
    }
    expect(idsOf(first)).toBe('ab');
  });
});

describe('the lowest rewrite', () => {
  test('is the lowest place that changed since the last call; appending rewrites nothing', () => {
    const list = listOf('a', 'b', 'c', 'd');
    expect(list.takeLowestRewrite()).toBe(Number.POSITIVE_INFINITY);
    list.apply(append('e'), undefined);
    expect(list.takeLowestRewrite()).toBe(Number.POSITIVE_INFINITY);
    list.apply(replace('d', 'x'), undefined);
    list.apply(remove('b'), undefined);
    list.apply(remove('c'), undefined);
    expect(list.takeLowestRewrite()).toBe(1);
    expect(list.takeLowestRewrite()).toBe(Number.POSITIVE_INFINITY);
    list.apply(truncate, undefined);
    expect(list.takeLowestRewrite()).toBe(0);
  });
});

describe('closing holes', () => {
  test('removes them once they are the larger half, and reports that every place moved', () => {
    const list = listOf(...numbered(100));
    const kept = numbered(100).filter((_, number) => number % 3 === 0);
    for (const id of numbered(100)) if (!kept.includes(id)) list.apply(remove(id), undefined);
    list.takeLowestRewrite();
    list.closeHoles();
    expect(list.end).toBe(kept.length);
    expect(list.snapshot().map(({ id }) => id)).toEqual(kept);
    expect(kept.map((id) => list.placeOf(id))).toEqual([...kept.keys()]);
    expect(list.takeLowestRewrite()).toBe(0);
  });

  test.each([
    ['a short list', 63, 62],
    ['a list with more messages than holes', 100, 49],
  ])('does nothing for %s', (_what, length, holes) => {
    const list = listOf(...numbered(length));
    for (const id of numbered(holes)) list.apply(remove(id), undefined);
    list.takeLowestRewrite();
    list.closeHoles();
    expect([list.end, list.takeLowestRewrite()]).toEqual([length, Number.POSITIVE_INFINITY]);
  });
});

test('M-01 after every event the list equals a plain array, and no earlier snapshot has changed', () => {
  const anId = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const wish = fc.record({
    type: fc.constantFrom('append', 'replace', 'remove', 'truncate'),
    targetId: anId,
    id: anId,
  });
  fc.assert(
    fc.property(fc.array(wish, { maxLength: 60 }), (wishes) => {
      const list = new MessageList();
      const taken: [snapshot: readonly Message[], ids: string][] = [];
      let plain: string[] = [];
      for (const { type, targetId, id } of wishes) {
        const known = plain.includes(targetId);
        if (type === 'append' && !plain.includes(id)) {
          expect(list.apply(append(id), ['a'])).toBe(true);
          plain = [...plain, id];
        }
        if (type === 'replace' && (id === targetId || !plain.includes(id))) {
          expect(list.apply(replace(targetId, id), ['a'])).toBe(known);
          plain = plain.map((each) => (each === targetId ? id : each));
        }
        if (type === 'remove') {
          expect(list.apply(remove(targetId), ['a'])).toBe(known);
          plain = plain.filter((each) => each !== targetId);
        }
        if (type === 'truncate') {
          list.apply(truncate, ['a']);
          plain = plain.filter((each) => each === 'a');
        }
        taken.push([list.snapshot(), plain.join('')]);
        for (const each of ['a', 'b', 'c', 'd', 'e']) expect(list.get(each)?.id === each).toBe(plain.includes(each));
      }
      for (const [snapshot, ids] of taken) expect(idsOf(snapshot)).toBe(ids);
    }),
    { numRuns: 300 },
  );
});
