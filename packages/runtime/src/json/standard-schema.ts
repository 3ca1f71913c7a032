/** Reads schemas of zod, ArkType, Valibot and other libraries, as Standard Schema describes them. */
import type { StandardParameters } from '@goondan/types';

/**
 * Returns the part of a schema that the Standard Schema specification defines; undefined for a plain JSON Schema. Its
 * fields are optional, because older versions of a library follow an older specification without JSON Schema.
 */
export function standardOf(schema: object): Partial<StandardParameters<unknown>['~standard']> | undefined {
  // Safe: a value with this key follows the standard.
  return '~standard' in schema ? (schema as StandardParameters<unknown>)['~standard'] : undefined;
}

/** Returns the JSON Schema of the values that the schema accepts, unchecked. Throws an `Error` with the reason. */
export function describeSchema(schema: unknown): unknown {
  // A module in JavaScript may pass anything.
  if (typeof schema !== 'object' || schema === null) throw new Error('the value is not an object');
  const standard = standardOf(schema);
  if (standard === undefined) return schema;
  // The validator uses draft-07: a tuple written for another draft would reject every value.
  if (standard.jsonSchema !== undefined) return standard.jsonSchema.input({ target: 'draft-07' });
  throw new Error(`the value is a schema of ${standard.vendor} without a JSON Schema`);
}

/**
 * Returns the schema library's own check, which applies refinements, defaults and transformations; undefined without
 * one.
 */
export function ownCheckOf(
  schema: object,
): ((value: unknown) => Promise<{ readonly value: unknown } | { readonly problems: readonly string[] }>) | undefined {
  const standard = standardOf(schema);
  // Bound, because `validate` may be a method that reads fields of its object.
  const validate = standard?.validate?.bind(standard);
  if (validate === undefined) return undefined;
  return async (given) => {
    const { issues, value } = await validate(given);
    if (issues === undefined) return { value };
    return {
      problems: issues.map(({ path, message }) => `${(path ?? []).map(keyOf).join('.') || 'the value'}: ${message}`),
    };
  };
}

function keyOf(step: PropertyKey | { readonly key: PropertyKey }): string {
  return String(typeof step === 'object' ? step.key : step);
}
