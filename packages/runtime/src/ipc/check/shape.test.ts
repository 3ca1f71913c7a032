import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  date,
  exactObject,
  json,
  jsonObject,
  listOf,
  ShapeError,
  name,
  object,
  oneByField,
  optional,
  text,
} from './shape.ts';

const person = object({ name, tags: optional(listOf(object({ label: text }))) });

describe('a check', () => {
  test('returns the fields it names and no others', () => {
    const value: unknown = JSON.parse('{"name":"ada","extra":1,"__proto__":{"x":1}}');
    expect(person(value)).toEqual({ name: 'ada' });
    expect(Object.keys(person(value))).toEqual(['name']);
  });

  test.each<[string, unknown]>([
    ['it is 7, not an object', 7],
    ['it is null, not an object', null],
    ['it is a list, not an object', []],
    ['name is missing, not a text', {}],
    ['name is "", not a text', { name: '' }],
    ['name has 5000 characters; 4096 are allowed', { name: 'x'.repeat(5_000) }],
    ['tags is an object, not a list', { name: 'ada', tags: {} }],
    ['tags[1].label is false, not a text', { name: 'ada', tags: [{ label: 'a' }, { label: false }] }],
  ])('reports the place and the reason: %s', (message, value) => {
    expect(() => person(value)).toThrow(message);
  });

  test('rejects unknown fields in exact mode', () => {
    const exact = exactObject({ name, note: optional(text) });
    expect(exact({ name: 'ada' })).toEqual({ name: 'ada' });
    expect(() => exact({ name: 'ada', nmae: 1 })).toThrow('nmae is unknown; known: name, note');
    expect(() => exact(JSON.parse('{"name":"ada","__proto__":{}}'))).toThrow('__proto__ is unknown');
    expect(() => exact([])).toThrow('it is a list, not an object');
    expect(() => exactObject({})({ a: 1 })).toThrow('a is unknown; known: none');
  });

  test('does not take a field from the prototype', () => {
    expect(() => object({ toString: text })({})).toThrow('toString is missing');
  });

  test('is not misled by a value with its own constructor', () => {
    const value: unknown = JSON.parse('{"constructor":{"name":{"toString":1}},"toString":1}');
    expect(() => text(value)).toThrow('it is an object, not a text');
    expect(() => person({ name: value })).toThrow(ShapeError);
  });
});

describe('a date', () => {
  test('is a Date after both ways', () => {
    fc.assert(
      fc.property(fc.date({ noInvalidDate: true }), (moment) => {
        expect(date(moment)).toEqual(moment);
        expect(date(JSON.parse(JSON.stringify(moment)))).toEqual(moment);
      }),
    );
  });

  test('rejects everything else', () => {
    for (const value of [0, '', 'yesterday', '2026', '2026-13-45T00:00:00.000Z', new Date(NaN), null, {}]) {
      expect(() => date(value)).toThrow('not a date');
    }
  });
});

describe('json', () => {
  test('accepts whatever JSON gives', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => expect(json(value)).toBe(value as never)));
  });

  test.each<[string, unknown]>([
    ['a[1] is a function, which JSON cannot represent', { a: [1, () => 1] }],
    ['a.b is NaN, which JSON cannot represent', { a: { b: NaN } }],
    ['a is not a plain object', { a: new Map() }],
    ['a is not a plain object', { a: new Date(0) }],
    ['a is a bigint, which JSON cannot represent', { a: 1n }],
  ])('rejects everything else: %s', (message, value) => {
    expect(() => jsonObject(value)).toThrow(message);
  });

  test('has a limit', () => {
    const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
    expect(() => json(nested(256))).not.toThrow();
    expect(() => json(nested(257))).toThrow('nested deeper than 256 levels');
    expect(() => json(nested(10_000))).toThrow(/^[[\]0]{200}… is nested deeper than 256 levels$/);
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    expect(() => json(cycle)).toThrow('nested deeper than 256 levels');
  });
});

describe('one of several shapes', () => {
  const shape = oneByField('type', { a: () => ({ text }), b: () => ({}) });

  test('is recognised by its field', () => {
    expect(shape({ type: 'a', text: '' })).toEqual({ type: 'a', text: '' });
    expect(shape({ type: 'b', text: 7 })).toEqual({ type: 'b' });
  });

  test('rejects everything else', () => {
    for (const value of [{ type: 'c' }, { type: 'toString' }, { type: '__proto__' }, { type: ['a'] }, {}]) {
      expect(() => shape(value)).toThrow('not one of a, b');
    }
  });
});
