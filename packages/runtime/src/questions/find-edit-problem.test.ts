import { expect, test } from 'bun:test';
import type { JsonObject, JsonSchema, JsonValue } from '@goondan/types';
import fc from 'fast-check';
import { samples } from '../../../../test/samples.ts';
import { compileSchema } from '../json/json-schema.ts';
import { findEditProblem } from './find-edit-problem.ts';

const name = fc.constantFrom('a', 'b', "it's", 'a/b~c', '', 'toString', '0');
const simple = fc.constantFrom<JsonValue>('', 'a', 'ab', '🫖🫖', '\ud83e', 0, 1, 2, 1.5, -1, true, false, null);
const typeName = fc.constantFrom('array', 'boolean', 'integer', 'null', 'number', 'object', 'string');
const small = fc.constantFrom(0, 1, 2);
const ruleNames = [
  ...['maximum', 'minimum', 'exclusiveMaximum', 'exclusiveMinimum', 'maxLength', 'minLength', 'const'],
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
      const: simple,
      enum: fc.uniqueArray(simple, { minLength: 1, maxLength: 3 }),
      maxItems: small,
      minItems: small,
      items: fc.oneof({ maxDepth: 2 }, fc.constant({}), tie('schema')),
      required: fc.uniqueArray(name, { maxLength: 3 }),
      additionalProperties: fc.boolean(),
      properties: fc.dictionary(name, fc.oneof({ maxDepth: 2 }, fc.constant({}), tie('schema')), {
        maxKeys: 3,
        noNullPrototype: true,
      }),
    })
    .map(({ type, rules, ...fields }) => {
      const chosen = Object.entries(fields).filter(([keyword]) => rules.includes(keyword));
      // Without a list of fields, nothing is said about other fields.
      const kept = chosen.filter(([keyword]) => keyword !== 'additionalProperties' || rules.includes('properties'));
      return { ...(type !== undefined && { type }), ...Object.fromEntries(kept) };
    }),
}));

const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    simple,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}));

test('edited arguments have a problem if the validator finds one, with the same message', async () => {
  let wrong = 0;
  await fc.assert(
    fc.asyncProperty(schema, fc.array(value, { minLength: 5, maxLength: 5 }), async (given, values) => {
      const check = await compileSchema({ properties: { a: given } }, 'a test');
      for (const each of values) {
        const problems = check({ a: each }).map(({ message }) => message);
        const found = findEditProblem({ properties: { a: given } }, {}, { a: each });
        if (problems.length === 0) expect(found).toBeUndefined();
        else expect(problems).toContain(found ?? 'none');
        wrong += Math.min(problems.length, 1);
      }
    }),
    { numRuns: samples(1_000) },
  );
  expect(wrong).toBeGreaterThan(samples(1_000));
});

test.each<[title: string, schema: JsonObject]>([
  ['is no schema', { properties: { a: 1 }, required: [1], maxItems: '1' }],
  ['has a keyword whose check may be long', { properties: { a: { pattern: '(a+)+$', anyOf: [false] } } }],
  ['has choices that are objects', { properties: { a: { enum: [{}], const: [] } } }],
  ['has a field that belongs to every object', JSON.parse('{ "properties": { "__proto__": { "type": "number" } } }')],
  ['requires such a field', { properties: { b: { required: ['__proto__'] } } }],
  ['has a list of items', { properties: { a: { items: [false] } } }],
])('a schema that %s says nothing about edited arguments', (_title, given) => {
  const edited = JSON.parse('{ "a": "x", "b": {}, "__proto__": "x" }');
  expect(findEditProblem(given, {}, edited)).toBeUndefined();
});
