import { describe, expect, test } from 'bun:test';
import { ambiguousId, findTurnId, shortIdOfEvent, shortTurnId } from './turn-ids.ts';

const uuid = '1f3a9c2b-0000-4000-8000-000000000000';
const turnId = `turn-event-${uuid}`;

describe('the short form of a turn id', () => {
  test.each([
    [turnId, '1f3a9c2b'],
    [`turn-heard-${'ab'.repeat(16)}`, 'abababab'],
    [`turn-call-${'c0'.repeat(16)}`, 'c0c0c0c0'],
    ['turn-mail-17', 'mail-17'],
    ['turn-event-1', 'event-1'],
    // These look like the beginning of a random id, but a sender chose them.
    ['turn-event-20261116-1', 'event-20261116-1'],
    ['turn-call-20261116-17', 'call-20261116-17'],
    ['fork-1', 'fork-1'],
    // A number is an event of a conversation, and `last` is the latest turn.
    ['turn-17', 'turn-17'],
    ['turn-last', 'turn-last'],
    ['turn--x', 'turn--x'],
    ['turn-', 'turn-'],
    ['turn-event-12345678-9000-4000-8000-000000000000', '12345678-9'],
    [`turn-call-${'1234567890'.repeat(3)}ab`, `${'1234567890'.repeat(3)}a`],
    // An event that is tried again has the id of the first one, and more.
    [`${turnId}~retry`, '1f3a9c2b~retry'],
    [`${turnId}~retry~retry`, '1f3a9c2b~retry~retry'],
    ['turn-mail-17~retry', 'mail-17~retry'],
  ])('%p is %p, and finds its turn', (id, short) => {
    expect(shortTurnId(id)).toBe(short);
    expect(findTurnId(short, [id, 'turn-another'])).toBe(id);
  });

  test('is longer where it would fit another turn', () => {
    const others = ['turn-event-1f3a9c2b-0010-4000-8000-000000000000', 'turn-mail-17', turnId];
    expect(shortTurnId(turnId, others)).toBe('1f3a9c2b-000');
    expect(others.map((id) => findTurnId(shortTurnId(id, others), others))).toEqual(others);
  });

  test('an event has the short form of its turn', () => {
    expect(shortIdOfEvent(`event-${uuid}`)).toBe('1f3a9c2b');
  });
});

describe('a typed id', () => {
  const ids = [turnId, 'turn-event-1f4', 'turn-mail-1', 'turn-mail-17'];

  test.each([
    [turnId, turnId],
    [`event-${uuid}`, turnId],
    [uuid, turnId],
    ['1f3', turnId],
    ['event-1f3', turnId],
    ['mail-1', 'turn-mail-1'],
    ['mail-17', 'turn-mail-17'],
    ['nothing', undefined],
  ])('%p means %p', (typed, meant) => {
    expect(findTurnId(typed, ids)).toBe(meant);
  });

  test('that begins like several ids is rejected, with the candidates', () => {
    expect(() => findTurnId('1f', ids)).toThrow('"1f" may be 1f3a9c2b, event-1f4.');
    const many = Array.from('abcdefg', (letter) => `turn-x${letter}`);
    expect(() => findTurnId('x', many)).toThrow(
      expect.objectContaining({ code: 'E_TRACE_AMBIGUOUS', message: '"x" may be xa, xb, xc, xd, xe, and 2 more.' }),
    );
    expect(() => findTurnId('x', many.slice(0, 5))).toThrow('"x" may be xa, xb, xc, xd, xe.');
  });

  test('means one try of a dead letter, never another one', () => {
    const tries = [turnId, `${turnId}~retry`, `${turnId}~retry~retry`];
    const shown = ['1f3a9c2b', '1f3a9c2b~retry', '1f3a9c2b~retry~retry'];
    expect(tries.map((id) => shortTurnId(id, tries))).toEqual(shown);
    for (const isChange of [false, true]) {
      expect(shown.map((typed) => findTurnId(typed, tries, { isChange }))).toEqual(tries);
      expect(findTurnId('1f3a9c2b', tries.slice(1), { isChange })).toBeUndefined();
    }
    expect(findTurnId('1f3~retry', tries)).toBe(`${turnId}~retry`);
    expect(findTurnId('1f3~retry', tries, { isChange: true })).toBeUndefined();
  });

  test('that begins like thousands of ids is rejected, and only five of them are named', () => {
    const named: number[] = [];
    const many = Array.from({ length: 4_000 }, (_, index) => index);
    const error = ambiguousId('t', many, (each) => `turn ${named.push(each)}`);
    expect([error.message, named.length]).toEqual([
      '"t" may be turn 1, turn 2, turn 3, turn 4, turn 5, and 3995 more.',
      5,
    ]);
  });

  test('of a turn that is to be changed is whole, or the short form of a random id', () => {
    const change = (typed: string, turnIds: readonly string[]) => findTurnId(typed, turnIds, { isChange: true });
    expect(change('1f3a9c2b', [turnId])).toBe(turnId);
    expect(change('turn-event-1f3a9c2b', [turnId])).toBe(turnId);
    expect(change(`event-${uuid}`, [turnId])).toBe(turnId);
    // Too short for a change.
    expect(change('1f3a9c2', [turnId])).toBeUndefined();
    expect(change('event-1', [turnId])).toBeUndefined();
    // `invoice-1` has ended, and `invoice-17` has not. The typed id is longer than a short form.
    expect(change('invoice-1', ['turn-invoice-17'])).toBeUndefined();
    expect(change('invoice-17', ['turn-invoice-17'])).toBe('turn-invoice-17');
    expect(change('event-20261116-1', ['turn-event-20261116-17'])).toBeUndefined();
  });
});
