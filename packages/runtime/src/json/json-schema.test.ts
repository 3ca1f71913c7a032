import { describe, expect, test } from 'bun:test';
import type { JsonSchema } from '@goondan/types';
import { compileSchema } from './json-schema.ts';

const city: JsonSchema = {
  type: 'object',
  properties: {
    city: { type: 'string' },
    days: { type: 'integer', minimum: 1 },
    unit: { enum: ['C', 'F'] },
    place: { type: 'object', properties: { at: { type: 'number' } } },
  },
  required: ['city'],
  additionalProperties: false,
};

async function problems(schema: JsonSchema, value: unknown): Promise<readonly string[]> {
  const check = await compileSchema(schema, 'a test');
  return check(value).map(({ message }) => message);
}

describe('a schema', () => {
  test.each<[string, JsonSchema]>([
    ['plain', { type: 'object', required: ['constructor'] }],
    ['not plain', { type: 'object', allOf: [{ required: ['constructor'] }] }],
  ])('Y-01 does not take an inherited field for a required one (%s)', async (_form, schema) => {
    expect(await problems(schema, {})).toEqual(["the value must have required property 'constructor'"]);
    expect(await problems(schema, { constructor: 1 })).toEqual([]);
  });

  test.each([
    [0.1, [0.3, 0.7, -1.1, 0, 123_456.7, 1e300], [0.35, 0.300000000001]],
    [0.01, [19.99, 4.35, 123_456.78], [19.999]],
    [3, [9, -3, 0], [10, 1e-320]],
    [1e-300, [], [1e300]],
    [10, [5_000_000_000_000_000, 1e23], [5_000_000_000_000_001]],
    [2, [4_503_599_627_370_498], [4_503_599_627_370_497]],
    [1, [2_000_000_000_000_000], [2_000_000_000_000_000.5]],
  ])('Y-01 a multiple of %d is one although floating-point numbers are rounded', async (multipleOf, right, wrong) => {
    for (const value of right) expect(await problems({ type: 'number', multipleOf }, value)).toEqual([]);
    for (const value of wrong) {
      expect(await problems({ type: 'number', multipleOf }, value)).toEqual([
        `the value must be multiple of ${multipleOf}`,
      ]);
    }
  });

  test('finds no problem with a matching value', async () => {
    expect(await problems(city, { city: 'Seoul', days: 2, unit: 'C', place: { at: 1.5 } })).toEqual([]);
  });

  test.each([
    [{}, ["the value must have required property 'city'"]],
    [{ city: 7 }, ['city must be string']],
    [{ city: 'Seoul', days: 0 }, ['days must be >= 1']],
    [{ city: 'Seoul', unit: 'K' }, ['unit must be equal to one of the allowed values (["C","F"])']],
    [{ city: 'Seoul', place: { at: 'x' } }, ['place.at must be number']],
    [{ city: 'Seoul', town: 1 }, ['the value must NOT have additional properties ("town")']],
    [{ days: 'two', unit: 'K' }, 3],
  ] as const)('reports the place and the reason for %j', async (value, expected) => {
    const found = await problems(city, value);
    if (typeof expected === 'number') expect(found).toHaveLength(expected);
    else expect(found).toEqual([...expected]);
  });

  test('is rejected with a code that names its owner when it is invalid', async () => {
    const refused = compileSchema({ type: 'nonsense' }, 'tool "weather__get"').catch((error: unknown) => error);
    expect(await refused).toMatchObject({
      code: 'E_TOOL_SCHEMA',
      message: expect.stringContaining('The schema of tool "weather__get" is not valid'),
    });
  });

  test('reports the place in the value', async () => {
    const check = await compileSchema(city, 'a test');
    expect(check({ city: 'Seoul', place: { at: 'x' } }).map(({ path }) => path)).toEqual([['place', 'at']]);
    const slashed = await compileSchema({ properties: { 'a/b~c': { type: 'number' } } }, 'a test');
    expect(slashed({ 'a/b~c': 'x' })).toEqual([{ path: ['a/b~c'], message: 'a/b~c must be number' }]);
  });

  test('with branches reports the problem in the branch, and only that', async () => {
    const check = await compileSchema(
      {
        if: { properties: { type: { const: 'a' } } },
        // oxlint-disable-next-line unicorn/no-thenable -- a word of JSON Schema
        then: { required: ['name'] },
        else: { properties: { name: false } },
      },
      'it',
    );
    const messages = (value: unknown) => check(value).map(({ message }) => message);
    expect(messages({ type: 'a' })).toEqual(["the value must have required property 'name'"]);
    expect(messages({ type: 'b', name: 'x' })).toEqual(['name is not allowed here']);
  });

  test('is compiled once', async () => {
    const schema: JsonSchema = { type: 'object' };
    expect(await compileSchema(schema, 'a test')).toBe(await compileSchema(schema, 'a test'));
  });

  test.each([
    ['of a newer draft', { $schema: 'https://json-schema.org/draft/2020-12/schema' }],
    ['of draft 7', { $schema: 'http://json-schema.org/draft-07/schema#' }],
    ['with an $id', { $id: 'https://example.com/weather' }],
    ['with the same $id again', { $id: 'https://example.com/weather' }],
    ['with a keyword nobody knows', { 'x-order': 1, format: 'fancy' }],
    // For such a schema, Ajv would return a promise, which is truthy.
    ['that calls itself asynchronous', { $async: true }],
  ])('%s works: schemas come from other people', async (_title, more) => {
    const schema: JsonSchema = { ...more, type: 'object', required: ['city'] };
    expect(await problems(schema, { city: 'Seoul' })).toEqual([]);
    expect(await problems(schema, {})).toEqual(["the value must have required property 'city'"]);
  });

  test('with many $refs to a large part is rejected before it is compiled', async () => {
    const many = (count: number, schema: JsonSchema) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, schema]));
    const bomb: JsonSchema = {
      $defs: { b: { properties: many(900, { type: 'string' }) } },
      properties: many(300, { $ref: '#/$defs/b' }),
    };
    const refused = compileSchema(bomb, 'tool "a__b"').catch((error: unknown) => error);
    expect(await refused).toMatchObject({ code: 'E_SCHEMA_SIZE', message: expect.stringContaining('tool "a__b"') });
  });

  test('a part with many $refs to it is compiled once', async () => {
    let reads = 0;
    const part = Object.defineProperty({ type: 'object' }, 'required', {
      enumerable: true,
      get() {
        reads += 1;
        return ['city'];
      },
    }) as JsonSchema;
    const properties = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, { $ref: '#/$defs/part' }]));
    const compile = async (count: number) => {
      reads = 0;
      const check = await compileSchema({ $defs: { part }, properties: properties(count) }, 'a test');
      expect(check({ p1: {} })).toHaveLength(1);
      return reads;
    };
    expect(await compile(200)).toBe(await compile(2));
  });

  test('uniqueItems reads each item once, whatever their number', async () => {
    const check = await compileSchema({ type: 'array', uniqueItems: true }, 'a test');
    let reads = 0;
    const items = Array.from({ length: 2_000 }, (_, index) => ({
      get id() {
        reads += 1;
        return index;
      },
      list: [1, 2],
    }));
    expect(check(items)).toEqual([]);
    expect(reads).toBe(2_000);
    const twice = [{ a: 1, b: 2 }, 'x', { b: 2, a: 1 }];
    expect(check(twice).map(({ message }) => message)).toEqual([
      'the value must NOT have duplicate items (items ## 0 and 2 are identical)',
    ]);
    expect(check([1, '1', [1], { 1: 1 }, null, true])).toEqual([]);
    const unasked = await compileSchema({ type: 'array', uniqueItems: false }, 'a test');
    expect(unasked([1, 1])).toEqual([]);
  });
});
