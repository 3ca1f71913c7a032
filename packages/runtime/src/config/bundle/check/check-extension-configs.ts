/**
 * The config an extension gets, against the schema its resource declares, for every agent and swarm that lists it.
 *
 * The bundle may not be trusted yet, so nothing is run that could be made to run for ever: texts are not matched against
 * patterns, and schemas that refer to themselves are left to the agent's own process, which checks everything again.
 */
import type { JsonObject, JsonSchema, JsonValue } from '@goondan/types';
import { isPlainObject } from '../../../json/copy-json.ts';
import { compileSchema, findSchemaProblems, type SchemaCheck } from '../../../json/json-schema.ts';
import { mergeConfig } from '../../merge-config.ts';
import type { LoadedResourceOf, Scope } from '../bundle.ts';
import { errorAt, type Finding } from '../bundle-problem.ts';
import { findResource, resourcesOf } from '../find-resource.ts';
import type { Path, Place } from '../place.ts';
import { referenceOf } from '../references.ts';
import { fillConfig } from '../values.ts';

type LoadedExtension = LoadedResourceOf<'Extension'>;

export async function checkExtensionConfigs(scopes: readonly Scope[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  const checks = new Map<LoadedExtension, SchemaCheck>();
  for (const loaded of scopes.flatMap((scope) => resourcesOf(scope, 'Extension'))) {
    const found = await readSchema(loaded);
    if (typeof found === 'function') checks.set(loaded, found);
    else if (found !== undefined) findings.push(found);
  }
  for (const scope of scopes) {
    for (const user of [...resourcesOf(scope, 'Agent'), ...resourcesOf(scope, 'Swarm')]) {
      for (const [index, item] of (user.resource.spec.extensions ?? []).entries()) {
        const extension = findResource(scope, 'Extension', referenceOf(item))?.loaded;
        const check = extension === undefined ? undefined : checks.get(extension);
        if (extension === undefined || check === undefined) continue;
        const over = typeof item === 'object' && 'config' in item ? (item.config ?? {}) : {};
        findings.push(...checkUse(extension, check, { user, index, over }));
      }
    }
  }
  return findings;
}

async function readSchema(loaded: LoadedExtension): Promise<SchemaCheck | Finding | undefined> {
  const { resource, document, identity } = loaded;
  const { configSchema } = resource.spec;
  if (configSchema === undefined) return undefined;
  const [problem] = await findSchemaProblems(configSchema);
  if (problem === undefined) {
    const harmless = toHarmless(configSchema);
    // What cannot be compiled for another reason is left to the agent's process too.
    return harmless && compileSchema(harmless, identity).catch(() => undefined);
  }
  const place = document.placeOf(['spec', 'configSchema', ...problem.path]);
  const message = `spec.configSchema is no JSON Schema: ${problem.message}.`;
  return errorAt(place, 'E_EXT_CONFIG', message, { resource: identity, suggestion: 'Correct the schema.' });
}

/** An item of `spec.extensions`, and the config it has there. */
interface Use {
  readonly user: LoadedResourceOf<'Agent' | 'Swarm'>;
  readonly index: number;
  readonly over: JsonObject;
}

function checkUse(extension: LoadedExtension, check: SchemaCheck, use: Use): Finding[] {
  const { config = {} } = extension.resource.spec;
  const unknown: string[] = [];
  const filled = fillConfig(mergeConfig(config, use.over), (_variable, path) => {
    unknown.push(path.join('.'));
    return '';
  });
  return check(filled)
    .filter(({ path }) => !unknown.includes(path.join('.')))
    .map(({ path, message }) => {
      const text = `The config of ${extension.identity} does not fit: ${message}.`;
      return errorAt(placeOf(extension, use, path), 'E_EXT_CONFIG', text, { resource: use.user.identity });
    });
}

/** Where the value was written that counts: by the user of the extension, or in the extension's resource. */
function placeOf(extension: LoadedExtension, { user, index, over }: Use, keys: readonly string[]): Place {
  const own = extension.resource.spec.config ?? {};
  if (valueAt(over, keys) === undefined && keys.length > 0 && valueAt(own, keys) !== undefined) {
    return extension.document.placeOf(['spec', 'config', ...toPath(own, keys)]);
  }
  return user.document.placeOf(['spec', 'extensions', index, 'config', ...toPath(over, keys)]);
}

/** The validator names all steps by texts; those into lists are numbers. */
function toPath(root: JsonValue, keys: readonly string[]): Path {
  let value: JsonValue | undefined = root;
  return keys.map((key) => {
    const step = Array.isArray(value) ? Number(key) : key;
    value = valueAt(value ?? null, [key]);
    return step;
  });
}

function valueAt(root: JsonValue, keys: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = root;
  for (const key of keys) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    // An own key of an object or a list.
    value = (value as JsonObject)[key];
  }
  return value;
}

const tooClever = ['$ref', '$dynamicRef', '$recursiveRef', 'patternProperties'];
const notSchemas = ['const', 'enum', 'default', 'examples'];

/** A copy that takes no longer than the schema and the config are large; `undefined` when there is none. */
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
  // The copy of an object is an object.
  const harmless = copy(schema) as JsonSchema;
  return isHarmless ? harmless : undefined;
}
