/**
 * Checks the config of an extension or tool against the schema that its resource declares.
 *
 * The bundle may not be trusted yet, so no check may run forever. For this reason, `pattern` and `uniqueItems` are left
 * out here, and a schema with references or `patternProperties` is not used at all. The process that runs the part
 * checks everything again, with the whole schema.
 */
import type { JsonObject, JsonSchema, JsonValue } from '@goondan/types';
import { isPlainObject } from '../../../json/copy-json.ts';
import { findSchemaProblem, type SchemaProblem } from '../../../json/find-schema-problem.ts';
import { compileSchema, type SchemaCheck } from '../../../json/json-schema.ts';
import type { LoadedResourceOf } from '../bundle.ts';
import { errorIn, type Finding } from '../bundle-problem.ts';
import { type Path, valueAt } from '../place.ts';
import { fillConfig } from '../values.ts';

/** The error code for an invalid config, by the kind of the resource that declares the schema. */
export const configErrors = {
  Extension: 'E_EXT_CONFIG',
  Tool: 'E_TOOL_CONFIG',
  Connector: 'E_CONNECTOR_CONFIG',
} as const;

/**
 * Returns a function that compiles the schema, to be called only if the part is used. The function resolves with
 * `undefined` when the schema does not compile. Returns a finding when the schema is invalid, and `undefined` when the
 * part declares no schema, or a schema that could take too long to check.
 */
export function readConfigSchema(
  loaded: LoadedResourceOf<keyof typeof configErrors>,
): (() => Promise<SchemaCheck | undefined>) | Finding | undefined {
  const { configSchema } = loaded.resource.spec;
  if (configSchema === undefined) return undefined;
  const problem = findSchemaProblem(configSchema);
  if (problem === undefined) {
    const harmless = toHarmless(configSchema);
    // If the schema still does not compile, the process that runs the part reports that.
    return harmless && (() => compileSchema(harmless, loaded.identity).catch(() => undefined));
  }
  const path = ['spec', 'configSchema', ...problem.path];
  const message = `spec.configSchema is not a JSON Schema: ${problem.message}.`;
  return errorIn(loaded, path, configErrors[loaded.kind], message, 'Correct the schema.');
}

/** Lists the problems of a config. Values from the environment are unknown here and are not checked. */
export function findConfigProblems(check: SchemaCheck, config: JsonObject): readonly SchemaProblem[] {
  const unknown: string[] = [];
  const filled = fillConfig(config, (_variable, path) => {
    unknown.push(path.join('.'));
    return '';
  });
  return check(filled).filter(({ path }) => !unknown.includes(path.join('.')));
}

/** Converts the validator's path, in which every step is a text: indexes of lists become numbers. */
export function toPath(root: JsonValue, keys: readonly string[]): Path {
  let value: unknown = root;
  return keys.map((key) => {
    const step = Array.isArray(value) ? Number(key) : key;
    value = valueAt(value, [key]);
    return step;
  });
}

const tooClever = ['$ref', '$dynamicRef', '$recursiveRef', 'patternProperties'];
const notSchemas = ['const', 'enum', 'default', 'examples'];

/**
 * Returns a copy of the schema without anything that could take long to check. Returns `undefined` when that is
 * impossible.
 */
function toHarmless(schema: JsonSchema): JsonSchema | undefined {
  let isHarmless = true;
  const copy = (value: JsonValue): JsonValue => {
    if (Array.isArray(value)) return value.map(copy);
    if (!isPlainObject(value)) return value;
    const kept: JsonObject = {};
    for (const [key, item] of Object.entries(value)) {
      if (tooClever.includes(key)) isHarmless = false;
      const isCostly = (key === 'pattern' && typeof item === 'string') || (key === 'uniqueItems' && item === true);
      if (!isCostly) kept[key] = notSchemas.includes(key) ? item : copy(item);
    }
    return kept;
  };
  // Safe: the copy of an object is an object.
  const harmless = copy(schema) as JsonSchema;
  return isHarmless ? harmless : undefined;
}
