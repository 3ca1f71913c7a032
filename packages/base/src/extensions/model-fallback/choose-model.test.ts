import { describe, expect, test } from 'bun:test';
import { chooseModel, type FallbackState, writeState } from './choose-model.ts';

const chain = ['a', 'b', 'c'];
const now = 1_000;
const choose = (state: Partial<FallbackState>, more: { tried?: readonly string[]; sticky?: boolean } = {}) =>
  chooseModel({ instead: {}, cooling: {}, ...state }, { chain, tried: [], sticky: true, now, ...more });

describe('Y-06 the chosen model', () => {
  const instead = { a: { model: 'c', reason: 'a failed' } };

  test('is the one that took over, unless it cools down, was tried, or is not kept', () => {
    expect(choose({ instead })).toBe('c');
    expect(choose({ instead, cooling: { c: now + 1 } })).toBe('a');
    expect(choose({ instead }, { tried: ['c'] })).toBe('a');
    expect(choose({ instead }, { sticky: false })).toBe('a');
  });

  test('has cooled down at the end of its time, and not before', () => {
    expect(choose({ cooling: { a: now } })).toBe('a');
    expect(choose({ cooling: { a: now + 1 } })).toBe('b');
  });

  test('is the one that cools down first, if none is ready', () => {
    expect(choose({ cooling: { a: now + 9, b: now + 3, c: now + 5 } })).toBe('b');
    expect(choose({ cooling: { a: now + 9, b: now + 3, c: now + 5 } }, { tried: ['b'] })).toBe('c');
    expect(choose({}, { tried: chain })).toBeUndefined();
  });
});

test('models that have cooled down are not stored', () => {
  const state = { instead: {}, cooling: { a: now - 1, b: now, c: now + 1 } };
  expect(writeState(state, now)).toEqual({ instead: {}, cooling: { c: now + 1 } });
});
