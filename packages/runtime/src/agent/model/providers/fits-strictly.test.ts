import { expect, test } from 'bun:test';
import type { JsonSchema } from '@goondan/types';
import { fitsStrictly } from './fits-strictly.ts';

const closed = (properties: JsonSchema, more: JsonSchema = {}): JsonSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
});
const text = { type: 'string', description: 'A text.' };

test.each<[boolean, string, JsonSchema]>([
  [true, 'a closed object', closed({ a: text, b: { type: ['number', 'null'], minimum: 0 } })],
  [
    true,
    'nested objects and lists',
    closed({ a: { type: 'array', items: closed({ b: { type: 'number', enum: [1, 2] } }) } }),
  ],
  [true, 'references', closed({ a: { $ref: '#/definitions/b' } }, { definitions: { b: closed({}) } })],
  [true, 'a choice inside', closed({ a: { anyOf: [text, { type: 'null' }] } })],
  [true, 'a known format and a pattern', closed({ a: { type: 'string', format: 'date', pattern: '^(?:a|b)+$' } })],
  [false, 'a choice at the top', closed({ a: text }, { anyOf: [closed({ a: text })] })],
  [false, 'a field of any type', closed({ a: {} })],
  [false, 'values without a type', closed({ a: { enum: ['low', 'high'] } })],
  [false, 'a constant without a type', closed({ a: { const: 1 } })],
  [
    false,
    'a description beside a reference',
    closed({ a: { $ref: '#/definitions/b', description: 'B.' } }, { definitions: { b: closed({}) } }),
  ],
  [false, 'a format that the mode does not have', closed({ a: { type: 'string', format: 'uri' } })],
  [false, 'a pattern that looks around', closed({ a: { type: 'string', pattern: '^(?!a)' } })],
  [false, 'an optional field', closed({ a: text }, { required: [] })],
  [false, 'an open object', { type: 'object', properties: { a: text }, required: ['a'] }],
  [false, 'an open object inside', closed({ a: { type: 'object' } })],
  [false, 'an open object in a definition', closed({}, { definitions: { b: { type: 'object' } } })],
  [false, 'a keyword that the mode does not have', closed({ a: { type: 'string', minLength: 1 } })],
  [false, 'a combination that the mode does not have', closed({ a: { allOf: [text] } })],
  [false, 'a schema that is true', closed({ a: { anyOf: [true] } })],
])('%p: %s', (isStrict, _title, schema) => {
  expect(fitsStrictly(schema)).toBe(isStrict);
});
