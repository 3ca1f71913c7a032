/**
 * The tool `output__finish`. Its arguments are the answer, and a call with valid arguments ends the turn. The handler
 * only returns the answer, so that layers of the toolCall chain can refuse or change it like any other result.
 */
import type { JsonObject, JsonSchema, JsonValue } from '@goondan/types';
import { FINISH_TOOL } from '../../config/tool-name.ts';
import { isPlainObject } from '../../json/copy-json.ts';
import { schemaMaps } from '../../json/find-demand-problem.ts';
import type { RegisteredTool } from '../tool/tool-registry.ts';

const description =
  'Gives your final answer and ends your turn. The arguments are the answer. Call it as soon as you have the answer; an ' +
  'answer in plain text does not count.';

export function finishTool(schema: JsonSchema): RegisteredTool {
  const isObject = isObjectSchema(schema);
  return {
    item: Object.freeze({ name: FINISH_TOOL, description, parameters: isObject ? schema : wrap(schema) }),
    handler: (_ctx, input: JsonObject): JsonValue => (isObject ? input : (input[WRAPPER] ?? null)),
    parallel: false,
    idempotent: true,
    effects: 'none',
    config: {},
    errorMessageLimit: undefined,
    isPatient: false,
    provider: {},
    extension: undefined,
    number: 0,
  };
}

/** Returns true if every fitting value is an object. Arguments of a tool, and answers in a schema mode, must be objects. */
export function isObjectSchema({ type }: JsonSchema): boolean {
  return type === 'object';
}

/** The name of the argument for an answer that is not an object. */
const WRAPPER = 'value';

function wrap(schema: JsonSchema): JsonSchema {
  const properties = { [WRAPPER]: moveReferences(schema) };
  return { type: 'object', properties, required: [WRAPPER], additionalProperties: false };
}

/** Keywords whose values are data, and not schemas. */
const data: readonly string[] = ['const', 'enum', 'default', 'examples'];

/** Returns a copy whose `$ref`s lead to the same places after the schema is moved into the wrapper. */
function moveReferences(schema: JsonValue): JsonValue {
  if (Array.isArray(schema)) return schema.map(moveReferences);
  if (!isPlainObject(schema)) return schema;
  return mapFields(schema, (keyword, value) => {
    if (keyword === '$ref' && typeof value === 'string') return `#/properties/${WRAPPER}${value.slice(1)}`;
    // The keys below are names, and a name may be that of a keyword.
    if (schemaMaps.includes(keyword) && isPlainObject(value))
      return mapFields(value, (_name, each) => moveReferences(each));
    return data.includes(keyword) ? value : moveReferences(value);
  });
}

function mapFields(fields: JsonObject, change: (key: string, value: JsonValue) => JsonValue): JsonObject {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, change(key, value)]));
}
