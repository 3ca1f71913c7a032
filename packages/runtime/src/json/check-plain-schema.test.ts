import { describe, expect, test } from 'bun:test';
import type { JsonSchema, JsonValue } from '@goondan/types';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { samples } from '../../../../test/samples.ts';
import { checkPlainSchema } from './check-plain-schema.ts';
import { validatorOptions } from './json-schema.ts';

const validator = new Ajv(validatorOptions);

/** Returns the places and the texts of all errors that the validator itself finds. */
function judge(schema: JsonSchema, value: JsonValue): readonly (readonly string[])[] {
  const validate = validator.compile(schema);
  if (validate(value)) return [];
  return (validate.errors ?? []).map(({ instancePath, message = '' }) => [
    ...instancePath
      .split('/')
      .slice(1)
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')),
    message,
  ]);
}

const name = fc.constantFrom('a', 'b', "it's", 'a/b~c', '', 'toString', '0');
const simple = fc.constantFrom<JsonValue>('', 'a', 'ab', '🫖🫖', '\ud83e', 0, -0, 1, 2, 1.5, -1, true, false, null);
const typeName = fc.constantFrom('array', 'boolean', 'integer', 'null', 'number', 'object', 'string');
const small = fc.constantFrom(0, 1, 2);
const ruleNames = [
  ...['maximum', 'minimum', 'exclusiveMaximum', 'exclusiveMinimum', 'maxLength', 'minLength', 'pattern', 'const'],
  ...['enum', 'maxItems', 'minItems', 'items', 'required', 'additionalProperties', 'properties'],
];

const { schema } = fc.letrec<{ schema: JsonSchema }>((tie) => ({
  schema: fc
    .record({
      type: fc.oneof(
        { weight: 2, arbitrary: fc.constant(undefined) },
        { weight: 4, arbitrary: typeName },
        { weight: 1, arbitrary: fc.uniqueArray(typeName, { minLength: 1, maxLength: 3 }) },
      ),
      rules: fc.subarray(ruleNames, { maxLength: 5 }),
      maximum: fc.constantFrom(0, 1, 1.5),
      minimum: fc.constantFrom(0, 1, 1.5),
      exclusiveMaximum: small,
      exclusiveMinimum: small,
      maxLength: small,
      minLength: small,
      pattern: fc.constantFrom('^a', 'b$', '^.$', '"', '\\p{L}'),
      const: simple,
      enum: fc.uniqueArray(simple, { minLength: 1, maxLength: 3 }),
      maxItems: small,
      minItems: small,
      items: fc.oneof({ maxDepth: 2 }, fc.constant({}), tie('schema')),
      required: fc.uniqueArray(name, { maxLength: 3 }),
      additionalProperties: fc.oneof({ maxDepth: 2 }, fc.boolean(), tie('schema')),
      properties: fc.dictionary(name, fc.oneof({ maxDepth: 2 }, fc.constant({}), tie('schema')), {
        maxKeys: 3,
        noNullPrototype: true,
      }),
    })
    .map(({ type, rules, ...fields }) => {
      const chosen = Object.entries(fields).filter(([keyword]) => rules.includes(keyword));
      return { ...(type !== undefined && { type }), description: 'A text.', ...Object.fromEntries(chosen) };
    }),
}));

const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    simple,
    fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}));

describe('a plain schema', () => {
  test('has the same problems as with the validator, in the same order', () => {
    let wrong = 0;
    fc.assert(
      fc.property(schema, fc.array(value, { minLength: 5, maxLength: 5 }), (given, values) => {
        const check = checkPlainSchema(given);
        for (const each of values) {
          const expected = judge(given, each);
          if (expected.length > 0) wrong += 1;
          const found = check?.(each).map(({ path, message }) => [...path, withoutDetail(path, message)]);
          expect(found).toEqual(expected.map((parts) => [...parts]));
        }
      }),
      { numRuns: samples(1_000) },
    );
    expect(wrong).toBeGreaterThan(samples(1_000));
  });

  test.each<[title: string, schema: JsonSchema]>([
    ['with a keyword that is not listed', { type: 'string', format: 'date' }],
    ['with such a keyword in a field', { properties: { a: { items: { anyOf: [{ type: 'string' }] } } } }],
    ['with such a keyword in other fields', { additionalProperties: { uniqueItems: true } }],
    ['that may be null', { type: 'string', nullable: true }],
    ['with a false field', { properties: { a: false } }],
    ['with a list of items', { items: [{ type: 'string' }] }],
    ['with a pattern that has a mistake', { pattern: '(' }],
    ['with choices that are objects', { enum: ['a', {}] }],
    ['with a constant that is a list', { const: [] }],
    ['with a field that belongs to every object', { properties: JSON.parse('{"__proto__":{"type":"string"}}') }],
    ['that requires such a field', { required: ['__proto__'] }],
  ])('is none %s: the validator checks it', (_title, given) => {
    expect(checkPlainSchema(given)).toBeUndefined();
  });
});

/** Removes the place before a message, and the details in brackets after it. */
function withoutDetail(path: readonly string[], message: string): string {
  const place = path.length === 0 ? 'the value' : path.join('.');
  expect(message).toStartWith(`${place} `);
  return message.slice(place.length + 1).replace(/(allowed values|additional properties) \(.*\)$/s, '$1');
}
