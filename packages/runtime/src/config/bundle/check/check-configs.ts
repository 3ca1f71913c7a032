/**
 * The config an extension or a tool gets, against the schema its resource declares, for everyone who lists it.
 *
 * The bundle may not be trusted yet, so nothing is run that could be made to run for ever: texts are not matched against
 * patterns, and schemas that refer to themselves are left to the agent's own process, which checks everything again.
 */
import type { ErrorCode, JsonObject, JsonSchema, JsonValue } from '@goondan/types';
import { isPlainObject } from '../../../json/copy-json.ts';
import { compileSchema, findSchemaProblems, type SchemaCheck } from '../../../json/json-schema.ts';
import { mergeConfig } from '../../merge-config.ts';
import type { LoadedResourceOf, Scope } from '../bundle.ts';
import { errorAt, type Finding } from '../bundle-problem.ts';
import { findResource, resourcesOf } from '../find-resource.ts';
import type { Path, Place } from '../place.ts';
import { configOf, type ListItem, referenceOf } from '../references.ts';
import { fillConfig } from '../values.ts';

/** What takes a config from whoever lists it. */
type ConfiguredKind = 'Extension' | 'Tool';
type Configured = LoadedResourceOf<ConfiguredKind>;

const codes = { Extension: 'E_EXT_CONFIG', Tool: 'E_TOOL_CONFIG' } as const satisfies Record<ConfiguredKind, ErrorCode>;

export async function checkConfigs(scopes: readonly Scope[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  const checks = new Map<Configured, SchemaCheck>();
  for (const loaded of scopes.flatMap((scope) => [...resourcesOf(scope, 'Extension'), ...resourcesOf(scope, 'Tool')])) {
    const found = await readSchema(loaded);
    if (typeof found === 'function') checks.set(loaded, found);
    else if (found !== undefined) findings.push(found);
  }
  for (const use of scopes.flatMap((scope) => [...listUses(scope)])) {
    const check = checks.get(use.listed);
    if (check !== undefined) findings.push(...checkUse(check, use));
  }
  return findings;
}

/** An item of a list, and the config it has there. */
interface Use {
  readonly user: LoadedResourceOf<'Agent' | 'Swarm'>;
  readonly field: 'extensions' | 'tools';
  readonly index: number;
  readonly listed: Configured;
  readonly over: JsonObject;
}

function* listUses(scope: Scope): Generator<Use> {
  for (const agent of resourcesOf(scope, 'Agent')) {
    yield* usesOf(scope, agent, 'extensions', agent.resource.spec.extensions);
    yield* usesOf(scope, agent, 'tools', agent.resource.spec.tools);
  }
  for (const swarm of resourcesOf(scope, 'Swarm')) {
    yield* usesOf(scope, swarm, 'extensions', swarm.resource.spec.extensions);
  }
}

function* usesOf(
  scope: Scope,
  user: Use['user'],
  field: Use['field'],
  items: readonly ListItem[] = [],
): Generator<Use> {
  for (const [index, item] of items.entries()) {
    const listed = findResource(scope, field === 'tools' ? 'Tool' : 'Extension', referenceOf(item))?.loaded;
    if (listed !== undefined) yield { user, field, index, listed, over: configOf(item) };
  }
}

async function readSchema(loaded: Configured): Promise<SchemaCheck | Finding | undefined> {
  const { kind, resource, document, identity } = loaded;
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
  return errorAt(place, codes[kind], message, { resource: identity, suggestion: 'Correct the schema.' });
}

function checkUse(check: SchemaCheck, use: Use): Finding[] {
  const { listed, user } = use;
  const unknown: string[] = [];
  const filled = fillConfig(mergeConfig(listed.resource.spec.config ?? {}, use.over), (_variable, path) => {
    unknown.push(path.join('.'));
    return '';
  });
  return check(filled)
    .filter(({ path }) => !unknown.includes(path.join('.')))
    .map(({ path, message }) => {
      const text = `The config of ${listed.identity} does not fit: ${message}.`;
      return errorAt(placeOf(use, path), codes[listed.kind], text, { resource: user.identity });
    });
}

/** Where the value was written that counts: by who lists it, or in the resource itself. */
function placeOf({ user, field, index, listed, over }: Use, keys: readonly string[]): Place {
  const own = listed.resource.spec.config ?? {};
  if (valueAt(over, keys) === undefined && keys.length > 0 && valueAt(own, keys) !== undefined) {
    return listed.document.placeOf(['spec', 'config', ...toPath(own, keys)]);
  }
  return user.document.placeOf(['spec', field, index, 'config', ...toPath(over, keys)]);
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
