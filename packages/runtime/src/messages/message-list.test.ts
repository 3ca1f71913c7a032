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
    list.apply(remove('a'));
    list.apply(replace('b', 'x'));
    list.apply(append('d'));
    expect([list.placeOf('x'), list.placeOf('c'), list.placeOf('d'), list.end]).toEqual([1, 2, 3, 4]);
    expect([list.at(0), list.placeOf('a'), list.placeOf('b'), list.get('b')]).toEqual(Array(4).fill(undefined));
    expect(list.at(1)?.id).toBe('x');
    expect(list.get('x')).toBe(list.at(1));
  });

  test('a message follows the one before it, also over removed messages', () => {
    const list = listOf('a', 'b', 'c', 'd');
    expect([list.follows('b', 'a'), list.follows('c', 'a'), list.follows('a', 'b')]).toEqual([true, false, false]);
    expect([list.follows('a', 'a'), list.follows('x', 'a'), list.follows('b', 'x')]).toEqual([false, false, false]);
    list.apply(remove('b'));
    expect([list.follows('c', 'a'), list.follows('d', 'a'), list.follows('b', 'a')]).toEqual([true, false, false]);
  });

  test('a range of places skips removed messages', () => {
    const list = listOf('a', 'b', 'c', 'd');
    list.apply(remove('b'));
    expect(idsOf(list.between(0, 3))).toBe('ac');
    expect(idsOf(list.between(3, list.end))).toBe('d');
  });

  test('M-04 truncate removes everything, and places begin again', () => {
    const list = listOf('a', 'b', 'c');
    list.apply(truncate);
    expect([idsOf(list.snapshot()), list.placeOf('b'), list.end]).toEqual(['', undefined, 0]);
    list.apply(append('b'));
    expect([idsOf(list.snapshot()), list.placeOf('b'), list.end]).toEqual(['b', 0, 1]);
  });

  test('M-08 apply tells whether anything changed: an unknown target changes nothing', () => {
    const list = listOf('a');
    const before = list.snapshot();
    expect(list.apply(remove('x'))).toBe(false);
    expect(list.apply(replace('x', 'y'))).toBe(false);
    expect(list.snapshot()).toBe(before);
    expect(list.takeLowestRewrite()).toBe(Number.POSITIVE_INFINITY);
    expect([append('b'), replace('a', 'x'), remove('b'), truncate].map((event) => list.apply(event))).toEqual(
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
      list.apply(event);
      expect(list.snapshot()).not.toBe(before);
    }
    expect(idsOf(first)).toBe('ab');
  });
});

describe('the lowest rewrite', () => {
  test('is the lowest place that changed since the last call; appending rewrites nothing', () => {
    const list = listOf('a', 'b', 'c', 'd');
    expect(list.takeLowestRewrite()).toBe(Number.POSITIVE_INFINITY);
    list.apply(append('e'));
    expect(list.takeLowestRewrite()).toBe(Number.POSITIVE_INFINITY);
    list.apply(replace('d', 'x'));
    list.apply(remove('b'));
    list.apply(remove('c'));
    expect(list.takeLowestRewrite()).toBe(1);
    expect(list.takeLowestRewrite()).toBe(Number.POSITIVE_INFINITY);
    list.apply(truncate);
    expect(list.takeLowestRewrite()).toBe(0);
  });
});

describe('closing holes', () => {
  test('removes them once they are the larger half, and reports that every place moved', () => {
    const list = listOf(...numbered(100));
    const kept = numbered(100).filter((_, number) => number % 3 === 0);
    for (const id of numbered(100)) if (!kept.includes(id)) list.apply(remove(id));
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
    for (const id of numbered(holes)) list.apply(remove(id));
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
          expect(list.apply(append(id))).toBe(true);
          plain = [...plain, id];
        }
        if (type === 'replace' && (id === targetId || !plain.includes(id))) {
          expect(list.apply(replace(targetId, id))).toBe(known);
          plain = plain.map((each) => (each === targetId ? id : each));
        }
        if (type === 'remove') {
          expect(list.apply(remove(targetId))).toBe(known);
          plain = plain.filter((each) => each !== targetId);
        }
        if (type === 'truncate') {
          list.apply(truncate);
          plain = [];
        }
        taken.push([list.snapshot(), plain.join('')]);
        for (const each of ['a', 'b', 'c', 'd', 'e']) expect(list.get(each)?.id === each).toBe(plain.includes(each));
      }
      for (const [snapshot, ids] of taken) expect(idsOf(snapshot)).toBe(ids);
    }),
    { numRuns: 300 },
  );
});
