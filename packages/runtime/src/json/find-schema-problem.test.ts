import { describe, expect, test } from 'bun:test';
import type { JsonValue } from '@goondan/types';
import { Ajv } from 'ajv';
import draft from 'ajv/dist/refs/json-schema-draft-07.json';
import fc from 'fast-check';
import { findSchemaProblem } from './find-schema-problem.ts';

const validator = new Ajv({ strict: false, allErrors: true, logger: false });

/** Returns the validator's own result: the place and the text of its first error. */
function judge(schema: JsonValue): { readonly path: readonly string[]; readonly message: string } | undefined {
  if (validator.validate('http://json-schema.org/draft-07/schema', schema)) return undefined;
  const [first] = validator.errors ?? [];
  return { path: first?.instancePath.split('/').slice(1) ?? [], message: first?.message ?? '' };
}

/** Generates values for a keyword, valid or not. */
const value: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue; schema: JsonValue }>((tie) => ({
  value: fc.oneof(
    { withCrossShrink: true, maxDepth: 4 },
    fc.constantFrom<JsonValue>('object', 'string', 'nonsense', true, null, 0, 1, -1, 1.5, [], ['a', 'a'], ['null'], {}),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b'), tie('schema'), { maxKeys: 2, noNullPrototype: true }),
    tie('schema'),
  ),
  schema: fc.dictionary(fc.constantFrom(...Object.keys(draft.properties), 'x-order', '$defs'), tie('value'), {
    maxKeys: 3,
    noNullPrototype: true,
  }),
})).value;

describe('a value that may be a JSON Schema', () => {
  test('has the same result as with the validator, keyword by keyword', () => {
    let wrong = 0;
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(draft.properties)), value, (keyword, given) => {
        // The keyword is not at the top of the schema, because there the validator ignores two keywords.
        const schema = { not: { [keyword]: given } };
        const expected = judge(schema);
        const found = findSchemaProblem(schema);
        if (expected !== undefined) wrong += 1;
        expect(found?.path).toEqual(expected?.path);
        if (expected !== undefined) expect(found?.message).toContain(expected.message.replace(/ \(items.*/, ''));
      }),
      { numRuns: 3_000 },
    );
    expect(wrong).toBeGreaterThan(500);
  });

  test.each<[schema: JsonValue, message: string]>([
    [7, 'the value must be object,boolean'],
    [
      { properties: { a: { type: 'text' } } },
      'properties.a.type must be equal to one of the allowed values (["array",',
    ],
    [{ items: { minLength: -1 } }, 'items.minLength must be >= 0'],
    [{ multipleOf: 0 }, 'multipleOf must be > 0'],
    [{ anyOf: [] }, 'anyOf must NOT have fewer than 1 items'],
    [{ required: ['a', 'b', 'a'] }, 'required must NOT have duplicate items (items ## 0 and 2 are identical)'],
    [{ dependencies: { a: 1 } }, 'dependencies.a must be object,boolean'],
  ])('is rejected with the place when it is %j', (schema, message) => {
    expect(findSchemaProblem(schema)?.message).toStartWith(message);
  });

  test.each<[schema: JsonValue]>([
    [true],
    [{}],
    [{ type: ['string', 'null'], 'x-order': 1, $defs: 7 }],
    [{ $schema: 'https://json-schema.org/draft/2020-12/schema' }],
    [{ $schema: 7, $id: null }],
  ])('is accepted when it is %j', (schema) => {
    expect(findSchemaProblem(schema)).toBeUndefined();
  });
});
