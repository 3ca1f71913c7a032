/** The one validator of the process, loaded when the first schema has to be checked. */
import { type JsonSchema, GoondanError } from '@goondan/types';
import type { Ajv, ErrorObject, ValidateFunction } from 'ajv';

export interface SchemaProblem {
  /** The keys that lead to it. */
  readonly path: readonly string[];
  /** Names the place, then what is wrong. */
  readonly message: string;
}

/** What is wrong with a value, place by place; empty when it fits. */
export type SchemaCheck = (value: unknown) => readonly SchemaProblem[];

// Module-level on purpose: a second validator would cost 30 ms, and a compiled schema depends on nothing but itself.
const compiled = new WeakMap<JsonSchema, Promise<SchemaCheck>>();
let validator: Promise<Ajv> | undefined;

/** Compiles a schema once. Rejects with `E_TOOL_SCHEMA` when it is none. */
export function compileSchema(schema: JsonSchema, what: string): Promise<SchemaCheck> {
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  const check = compile(schema, what);
  compiled.set(schema, check);
  return check;
}

/** What keeps a value from being a JSON Schema; empty when it is one. The schema is looked at, not compiled. */
export async function findSchemaProblems(schema: JsonSchema): Promise<readonly SchemaProblem[]> {
  validator ??= loadValidator();
  const ajv = await validator;
  return ajv.validateSchema(anonymous(schema)) === true ? [] : (ajv.errors ?? []).map(readProblem);
}

async function compile(schema: JsonSchema, what: string): Promise<SchemaCheck> {
  validator ??= loadValidator();
  const ajv = await validator;
  let validate: ValidateFunction;
  try {
    validate = ajv.compile(anonymous(schema));
  } catch (error) {
    throw new GoondanError('E_TOOL_SCHEMA', `The schema of ${what} is not valid: ${String(error)}`, { cause: error });
  }
  return (value) => (validate(value) ? [] : (validate.errors ?? []).filter(saysSomething).map(readProblem));
}

/**
 * With its $id a schema would stay in the shared validator and clash with the next one of the same $id; with its $schema
 * another draft's would be refused unread; with $async the check would be a promise.
 */
function anonymous({ $id: _id, $schema: _draft, $async: _async, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

async function loadValidator(): Promise<Ajv> {
  const { Ajv } = await import('ajv');
  // Not strict: schemas come from other people's tools and MCP servers, with keywords of their own.
  return new Ajv({ strict: false, allErrors: true, logger: false });
}

/** That a branch does not fit is said once more for the branch as a whole. */
function saysSomething({ keyword }: ErrorObject): boolean {
  return keyword !== 'if';
}

function readProblem(error: ErrorObject): SchemaProblem {
  const path = error.instancePath.split('/').slice(1).map(unescapePointer);
  const place = path.length === 0 ? 'the value' : path.join('.');
  const detail = error.keyword === 'additionalProperties' ? ` ("${String(error.params.additionalProperty)}")` : '';
  const allowed = error.keyword === 'enum' ? ` (${JSON.stringify(error.params.allowedValues)})` : '';
  const problem = error.keyword === 'false schema' ? 'does not belong here' : (error.message ?? 'does not fit');
  return { path, message: `${place} ${problem}${detail}${allowed}` };
}

function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}
