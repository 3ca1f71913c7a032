import { expect, test } from 'bun:test';
import { z } from 'zod';
import { readDemand } from './read-demand.ts';

test('Y-01 a schema of zod becomes a plain JSON Schema, frozen and without its draft', () => {
  const demand = readDemand({ schema: z.object({ city: z.string(), tempC: z.number().optional() }), retries: 1 });
  expect(demand).toEqual({
    schema: {
      type: 'object',
      properties: { city: { type: 'string' }, tempC: { type: 'number' } },
      required: ['city'],
    },
    retries: 1,
  });
  expect(Object.isFrozen(demand.schema)).toBe(true);
});

test.each<[unknown, string]>([
  [z.object({}), '`output` is not an object; write `{ schema, retries }`'],
  [undefined, '`output` is not an object'],
  [{ type: 'object' }, '`output` has the unknown field "type"; write `{ schema, retries }`'],
  [{}, 'its schema is not JSON: the value is not an object'],
  [{ schema: { type: 'object' }, retries: -1 }, '`output.retries` must be a whole number from 0 to 10'],
  [{ schema: { type: 'object' }, retries: 11 }, '`output.retries` must be a whole number from 0 to 10'],
  [{ schema: { nope: 1 } }, 'in its schema, the value has the unknown keyword "nope"'],
  [{ schema: z.object({ at: z.date() }) }, 'its schema is not JSON: '],
  [{ schema: { properties: { a: undefined, b: () => 1 } } }, 'its schema is not JSON: properties.b is a function'],
])('Y-01 %p is refused with E_OUTPUT_INVALID', (value, message) => {
  expect(() => readDemand(value)).toThrow(message);
  try {
    readDemand(value);
  } catch (error) {
    expect(error).toMatchObject({ code: 'E_OUTPUT_INVALID' });
  }
});
