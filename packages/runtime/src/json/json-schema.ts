/** Checks values against JSON Schemas. The only validator of the process is loaded with the first schema. */
import { type JsonSchema, GoondanError } from '@goondan/types';
import type { Ajv, ErrorObject, Options, SchemaValidateFunction, ValidateFunction } from 'ajv';
import { findSizeProblem } from './count-schema-nodes.ts';
import {
  duplicateMessage,
  findDuplicate,
  findSchemaProblem,
  type SchemaProblem,
  schemaProblem,
  unknownFieldProblem,
} from './find-schema-problem.ts';

/** Returns the problems of a value; an empty list when the value matches the schema. */
export type SchemaCheck = (value: unknown) => readonly SchemaProblem[];

// These variables are at module level on purpose: a second validator would cost 30 ms, and a compiled schema depends
// only on its source.
const compiled = new WeakMap<JsonSchema, Promise<SchemaCheck>>();
let validator: Promise<Ajv> | undefined;

/**
 * Compiles a schema, once for each schema object. Compiling cannot be interrupted, so the size of the schema is checked
 * first.
 *
 * **Errors** — `E_TOOL_SCHEMA` when the value is not a schema, `E_SCHEMA_SIZE` when the schema is too large to be
 * compiled.
 */
export function compileSchema(schema: JsonSchema, what: string): Promise<SchemaCheck> {
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  const check = compile(schema, what);
  compiled.set(schema, check);
  return check;
}

async function compile(schema: JsonSchema, what: string): Promise<SchemaCheck> {
  const tooLarge = findSizeProblem(schema, what);
  if (tooLarge !== undefined) throw tooLarge;
  const own = anonymous(schema);
  const problem = findSchemaProblem(own);
  if (problem !== undefined) {
    throw new GoondanError('E_TOOL_SCHEMA', `The schema of ${what} is not valid: ${problem.message}.`);
  }
  validator ??= loadValidator();
  const ajv = await validator;
  let validate: ValidateFunction;
  try {
    validate = ajv.compile(own);
    // The validator would keep every schema it has compiled, and an ask may have one of its own.
    ajv.removeSchema(own);
  } catch (error) {
    throw new GoondanError('E_TOOL_SCHEMA', `The schema of ${what} is not valid: ${String(error)}`, { cause: error });
  }
  return (value) => (validate(value) ? [] : (validate.errors ?? []).filter(hasOwnMessage).map(readProblem));
}

/**
 * Removes three keywords. With `$id`, a schema would stay in the shared validator and conflict with the next schema of
 * the same id. With `$schema`, other drafts would be rejected. With `$async`, the check would return a promise.
 */
function anonymous({ $id: _id, $schema: _draft, $async: _async, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

/** `strictNumbers`: NaN and the infinities are not numbers, as in JSON. */
const validatorOptions: Options = {
  strict: false,
  strictNumbers: true,
  allErrors: true,
  logger: false,
  inlineRefs: false,
  validateSchema: false,
  // A required field called `constructor` is not there because every object inherits one.
  ownProperties: true,
};

async function loadValidator(): Promise<Ajv> {
  const { Ajv } = await import('ajv');
  // The validator is not strict, because schemas of foreign tools and MCP servers have their own keywords. A target of
  // many $refs is compiled once, not once per reference. Schemas are not validated again here, because compiling the
  // meta-schema takes longer than everything else.
  const ajv = new Ajv(validatorOptions);
  for (const keyword of ['uniqueItems', 'multipleOf']) ajv.removeKeyword(keyword);
  ajv.addKeyword({ keyword: 'multipleOf', type: 'number', schemaType: 'number', errors: true, validate: isMultiple });
  return ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    errors: true,
    validate: hasUniqueItems,
  });
}

/**
 * Replaces the validator's own `multipleOf`, for which 0.3 is not a multiple of 0.1. The remainder of two safe
 * integers is exact. Otherwise, a quotient counts as whole if it differs from a whole number by no more than the errors
 * of rounding the two numbers and the quotient. These errors grow with the quotient, so they have a limit.
 */
const isMultiple: SchemaValidateFunction = (step: number, value: number) => {
  const quotient = value / step;
  const error = Math.min(2 * Number.EPSILON * Math.abs(quotient), MOST_ERROR);
  const areIntegers = Number.isSafeInteger(value) && Number.isSafeInteger(step);
  const isWhole = Number.isFinite(quotient) && Math.abs(quotient - Math.round(quotient)) <= error;
  if (areIntegers ? value % step === 0 : isWhole) return true;
  isMultiple.errors = [{ keyword: 'multipleOf', message: `must be multiple of ${step}`, params: { multipleOf: step } }];
  return false;
};

const MOST_ERROR = 1e-6;

/**
 * Replaces the validator's own `uniqueItems`, which compares each item with every other item. This check needs only one
 * pass.
 */
const hasUniqueItems: SchemaValidateFunction = (isWanted: boolean, items: readonly unknown[]) => {
  const duplicate = isWanted ? findDuplicate(items) : undefined;
  if (duplicate === undefined) return true;
  const [j, i] = duplicate;
  hasUniqueItems.errors = [{ keyword: 'uniqueItems', message: duplicateMessage(duplicate), params: { i, j } }];
  return false;
};

/** Returns false for the error of a whole `if`, which only repeats the errors inside its branch. */
function hasOwnMessage({ keyword }: ErrorObject): boolean {
  return keyword !== 'if';
}

function readProblem(error: ErrorObject): SchemaProblem {
  const path = error.instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (error.keyword === 'additionalProperties')
    return unknownFieldProblem(path, String(error.params.additionalProperty));
  if (error.keyword === 'false schema') return { ...schemaProblem(path, 'is not allowed here'), isForbidden: true };
  const allowed = error.keyword === 'enum' ? ` (${JSON.stringify(error.params.allowedValues)})` : '';
  return schemaProblem(path, `${error.message ?? 'does not fit'}${allowed}`);
}
