import { expect, test } from 'bun:test';
import type { JsonValue } from '@goondan/types';
import { findDemandProblem, LONGEST_DEMAND } from './find-demand-problem.ts';
import { compileSchema } from './json-schema.ts';

test.each<[string, JsonValue]>([
  ['an object', { type: 'object', properties: { a: { type: 'string', format: 'email' } }, required: ['a'] }],
  ['everything', {}],
  ['references', { $ref: '#/definitions/a', definitions: { a: { type: 'array', items: { $ref: '#' } } } }],
  [
    'references to the same schema for parts of the value',
    {
      allOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }],
      items: { $ref: '#' },
      $defs: { a: { contains: { $ref: '#' } } },
    },
  ],
  ['definitions of a newer draft', { $ref: '#/$defs/a', $defs: { a: { enum: [1, 2] } } }],
  ['remarks', { $schema: 'http://json-schema.org/draft-07/schema#', $id: 'x', title: 'T', default: 1, examples: [1] }],
  ['conditions', JSON.parse('{"if":{"type":"string"},"then":{"minLength":1},"else":{"not":{"type":"null"}}}')],
  ['properties with the names of keywords', { properties: { $ref: { type: 'string' }, anything: { type: 'null' } } }],
  ['data with unknown names', { const: { anything: 1 }, enum: [{ anything: 1 }] }],
])('Y-01 %s can be demanded, and is compiled', async (_title, schema) => {
  expect(findDemandProblem(schema)).toBeUndefined();
  expect(await compileSchema(schema as object as never, 'a test')).toBeFunction();
});

test.each<[JsonValue, string, readonly string[]]>([
  ['text', 'the value must be an object with a JSON Schema', []],
  [true, 'the value must be an object with a JSON Schema', []],
  [{ typ: 'object' }, 'the value has the unknown keyword "typ"', ['typ']],
  [{ prefixItems: [] }, 'the value has the unknown keyword "prefixItems"', ['prefixItems']],
  [
    { properties: { a: { minimun: 1 } } },
    'properties.a has the unknown keyword "minimun"',
    ['properties', 'a', 'minimun'],
  ],
  [{ anyOf: [{}, { nope: 1 }] }, 'anyOf.1 has the unknown keyword "nope"', ['anyOf', '1', 'nope']],
  [
    { additionalProperties: { nope: 1 } },
    'additionalProperties has the unknown keyword',
    ['additionalProperties', 'nope'],
  ],
  [{ items: { $id: 'x' } }, 'items has the unknown keyword "$id"', ['items', '$id']],
  [
    { dependencies: { a: { nope: 1 } } },
    'dependencies.a has the unknown keyword "nope"',
    ['dependencies', 'a', 'nope'],
  ],
  [{ $ref: '#/definitions/a' }, '$ref must lead to a schema inside this one, but "#/definitions/a" does not', ['$ref']],
  [
    { $ref: 'https://example.com/a' },
    '$ref must lead to a schema inside this one, but "https://example.com/a" does not',
    ['$ref'],
  ],
  [{ $ref: '#' }, 'the value never ends: a $ref leads back to the same schema for the same value', []],
  [
    { anyOf: [{ $ref: '#/definitions/a' }], definitions: { a: { not: { if: { $ref: '#' } } } } },
    'the value never ends',
    [],
  ],
  [
    {
      properties: { a: { $ref: '#/definitions/b' } },
      definitions: { b: { dependencies: { c: { $ref: '#/properties/a' } } } },
    },
    'properties.a never ends',
    ['properties', 'a'],
  ],
  [{ properties: { a: { pattern: '(' } } }, 'properties.a has a pattern that is not valid: "("', ['properties', 'a']],
  [{ patternProperties: { '[': {} } }, 'the value has a pattern that is not valid: "["', []],
  [{ type: 'text' }, 'type must be equal to one of the allowed values', ['type']],
  [{ description: 'x'.repeat(LONGEST_DEMAND) }, 'characters; 65536 are allowed', []],
])('Y-01 %j cannot be demanded, and the problem has a place', (schema, message, path) => {
  const { message: told = '', path: at = [], unknownField } = findDemandProblem(schema) ?? {};
  expect(told).toContain(message);
  expect(unknownField === undefined ? at : [...at, unknownField]).toEqual([...path]);
});

test('Y-01 a schema that grows without end once its references are followed cannot be demanded', () => {
  const definitions = Object.fromEntries(
    Array.from({ length: 20 }, (_, n) => [
      `d${n}`,
      { anyOf: [{ $ref: `#/definitions/d${n + 1}` }, { $ref: `#/definitions/d${n + 1}` }] },
    ]),
  );
  const schema = { $ref: '#/definitions/d0', definitions: { ...definitions, d20: {} } };
  expect(findDemandProblem(schema)?.message).toContain('too many values');
});
