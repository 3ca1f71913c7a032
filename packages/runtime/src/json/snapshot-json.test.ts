import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { isAsBefore, snapshotJson } from './snapshot-json.ts';

describe('a snapshot', () => {
  test('does not change with the value, and detects the change', () => {
    const changes: Record<string, (value: { a: { b: unknown[] }; c?: number | undefined }) => void> = {
      'a value inside': (value) => void (value.a.b[1] = 3),
      'one more': (value) => void value.a.b.push(3),
      'one less': (value) => void value.a.b.pop(),
      'a new key': (value) => void Object.assign(value, { d: 1 }),
      'a key with nothing': (value) => void Object.assign(value, { d: undefined }),
      'a key gone': (value) => void delete value.c,
      'another key with nothing': (value) => {
        delete value.c;
        Object.assign(value, { d: undefined });
      },
      'another type': (value) => void Object.assign(value, { a: [] }),
      'a date': (value) => void (value.a.b[2] = new Date(1)),
    };
    for (const [what, change] of Object.entries(changes)) {
      const value = { a: { b: [1, 2, new Date(0)] }, c: undefined };
      const snapshot = snapshotJson(value);
      expect(isAsBefore(snapshot, value), what).toBe(true);
      change(value);
      expect(isAsBefore(snapshot, value), what).toBe(false);
      expect(snapshot, what).toEqual({ a: { b: [1, 2, new Date(0)] }, c: undefined });
    }
  });

  test('equals another object with the same contents, and nothing else', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        expect(isAsBefore(snapshotJson(one), structuredClone(one))).toBe(true);
        expect(isAsBefore(snapshotJson(one), other)).toBe(Bun.deepEquals(one, other, true));
      }),
    );
  });

  test('keeps frozen values by reference, and `__proto__` as a name', () => {
    const frozen = Object.freeze({ a: 1 });
    const value = { frozen, ...(JSON.parse('{"__proto__": {"x": [1]}}') as object) };
    const snapshot = snapshotJson(value);
    expect(snapshot.frozen).toBe(frozen);
    expect(Object.keys(snapshot)).toEqual(['frozen', '__proto__']);
    expect(Object.getPrototypeOf(snapshot)).toBe(Object.prototype);
  });

  test('is bounded: for values that contain themselves, are too deep or too large', () => {
    const self: Record<string, unknown> = { a: 1 };
    self.self = self;
    const snapshot = snapshotJson(self);
    expect(isAsBefore(snapshot, self)).toBe(true);
    self.a = 2;
    expect(isAsBefore(snapshot, self)).toBe(false);
    const much = Array.from({ length: 50_000 }, () => ({ a: { b: 1 } }));
    const kept = snapshotJson(much);
    expect(kept[0]).not.toBe(much[0] as { a: { b: number } });
    expect(kept.at(-1)).toBe(much.at(-1) as { a: { b: number } });
    expect(isAsBefore(kept, much)).toBe(true);
  });
});
