import { describe, expect, test } from 'bun:test';
import type { JsonValue } from '@goondan/types';
import fc from 'fast-check';
import { type Change, diffJson } from './diff-json.ts';

describe('diffJson', () => {
  test.each<[what: string, before: JsonValue | undefined, after: JsonValue | undefined, changes: Change[]]>([
    ['nothing', { a: [1, { b: null }] }, { a: [1, { b: null }] }, []],
    ['nothing, both absent', undefined, undefined, []],
    ['a value', { a: 1 }, { a: 2 }, [{ path: 'a', before: '1', after: '2' }]],
    ['a value in a list', { a: [1, 2] }, { a: [1, 3] }, [{ path: 'a[1]', before: '2', after: '3' }]],
    ['something added', { a: 1 }, { a: 1, b: { c: true } }, [{ path: 'b', after: '{"c":true}' }]],
    ['something removed', { a: 1, b: 'x' }, { a: 1 }, [{ path: 'b', before: 'x' }]],
    ['a longer list', [1], [1, 'x'], [{ path: '[1]', after: 'x' }]],
    ['a shorter list', [1, 2], [1], [{ path: '[1]', before: '2' }]],
    ['another type', { a: [] }, { a: {} }, [{ path: 'a', before: '[]', after: '{}' }]],
    ['null for a value', { a: null }, { a: 0 }, [{ path: 'a', before: 'null', after: '0' }]],
    ['the whole', undefined, 'x', [{ path: '', after: 'x' }]],
    [
      'deep inside',
      { a: { b: [{ c: 1 }] } },
      { a: { b: [{ c: 2 }] } },
      [{ path: 'a.b[0].c', before: '1', after: '2' }],
    ],
  ])('reports %s', (_what, before, after, changes) => {
    expect(diffJson(before, after)).toEqual({ changes, isCut: false });
  });

  test('names that every object inherits are names like any other', () => {
    const named = JSON.parse('{"constructor": 1, "toString": "x", "__proto__": [2]}') as JsonValue;
    expect(diffJson({}, named).changes.toSorted(byPath)).toEqual([
      { path: '__proto__', after: '[2]' },
      { path: 'constructor', after: '1' },
      { path: 'toString', after: 'x' },
    ]);
    expect(diffJson(named, {}).changes.map(({ after }) => after)).toEqual([undefined, undefined, undefined]);
  });

  test('one item more or less at the beginning of a list is one change', () => {
    const list = [{ role: 'a' }, { role: 'b' }];
    const longer = [{ role: 'new' }, ...list];
    expect(diffJson({ list }, { list: longer }).changes).toEqual([{ path: 'list[0]', after: '{"role":"new"}' }]);
    expect(diffJson({ list: longer }, { list }).changes).toEqual([{ path: 'list[0]', before: '{"role":"new"}' }]);
  });

  test('long values are cut to 2 000 characters, many changes to 50, and both are marked', () => {
    const { changes } = diffJson({ a: 'x'.repeat(2_000) }, { a: 'y'.repeat(2_001) });
    expect(changes).toEqual([
      { path: 'a', before: 'x'.repeat(2_000), after: `${'y'.repeat(2_000)}… (2001 characters)` },
    ]);
    const many = diffJson([], Array(1_000).fill(0));
    expect(many).toMatchObject({ isCut: true });
    expect(many.changes).toHaveLength(50);
    expect(diffJson([], Array(50).fill(0))).toMatchObject({ isCut: false });
  });

  test('a list of a million, and a value that contains itself, have a limit', () => {
    const million = Array.from({ length: 1_000_000 }, (_, index) => ({ index }));
    const other = million.map(({ index }) => ({ index: index + 1 }));
    expect(diffJson(million, other).isCut).toBe(true);
    const [one, two]: Record<string, unknown>[] = [{ a: 1 }, { a: 2 }];
    Object.assign(one ?? {}, { self: one });
    Object.assign(two ?? {}, { self: two });
    expect(diffJson(one, two).changes[0]).toEqual({ path: 'a', before: '1', after: '2' });
  });

  test('there is a change exactly when the values differ, and its path leads to both sides', () => {
    // The keys have no dots or brackets, so that a path can be followed.
    const value = fc.letrec<{ value: JsonValue }>((tie) => ({
      value: fc.oneof(
        // The values are so small that nothing is cut.
        { maxDepth: 2 },
        fc.constantFrom<JsonValue[]>(null, true, 0, 1, 'a', 'b'),
        fc.array(tie('value'), { maxLength: 2 }),
        fc.dictionary(fc.constantFrom('k', 'l', 'toString'), tie('value')),
      ),
    })).value;
    fc.assert(
      fc.property(value, value, (before, after) => {
        const { changes } = diffJson(before, after);
        expect(changes.length === 0).toBe(Bun.deepEquals(before, after, true));
        for (const change of changes) {
          // An added or removed item of a list has a value on one side only.
          if (change.before !== undefined) expect(shown(walk(before, change.path))).toBe(change.before);
          if (change.after !== undefined) expect(shown(walk(after, change.path))).toBe(change.after);
          expect(change.before).not.toBe(change.after);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

const byPath = (a: Change, b: Change) => (a.path < b.path ? -1 : 1);

function walk(value: JsonValue, path: string): JsonValue | undefined {
  const keys = path.split(/[.[\]]/).filter((key) => key !== '');
  return keys.reduce<JsonValue | undefined>((inside, key) => {
    if (typeof inside !== 'object' || inside === null || !Object.hasOwn(inside, key)) return undefined;
    return Reflect.get(inside, key) as JsonValue;
  }, value);
}

function shown(value: JsonValue | undefined): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  return JSON.stringify(value);
}
