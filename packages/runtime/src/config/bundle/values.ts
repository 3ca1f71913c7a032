/** Values that a bundle takes from the environment: where they are written, and how they are looked up. */
import type { JsonObject, JsonValue } from '@goondan/types';
import { isPlainObject } from '../../json/copy-json.ts';
import { providerOf } from '../provider-variables.ts';
import type { Environment } from '../variable-name.ts';
import type { LoadedResource } from './bundle.ts';
import type { ValueSource } from './kinds/fields.ts';
import type { Path } from './place.ts';
import { modelsOf } from './list-models.ts';
import { configOf, type ListItem, parseModelName } from './references.ts';

/** Looks up a variable, first in the environment, then in the bundle's `.env`. An empty variable counts as not set. */
export function lookUp(variable: string, environment: Environment, environmentFile: Environment): string | undefined {
  return own(environment, variable) || own(environmentFile, variable) || undefined;
}

function own(environment: Environment, variable: string): string | undefined {
  return Object.hasOwn(environment, variable) ? environment[variable] : undefined;
}

/** Lists each `valueFrom` of a config that is not exactly `{ env: NAME }`. */
export function listMalformedValues(loaded: LoadedResource): Path[] {
  return configsOf(loaded).flatMap(({ path, config }) =>
    [...walkConfig(config, path)].flatMap((found) => (found.variable === undefined ? [found.path] : [])),
  );
}

/** Lists the variables that a resource needs, each with the path of the field that names it. */
export function listVariables(loaded: LoadedResource) {
  const uses: { path: Path; variable: string }[] = [];
  const add = (source: ValueSource | undefined, ...path: Path) => {
    if (typeof source === 'object') {
      uses.push({ variable: source.valueFrom.env, path: ['spec', ...path, 'valueFrom', 'env'] });
    }
  };
  const addEach = (sources: Readonly<Record<string, ValueSource>> | undefined, ...path: Path) => {
    for (const [name, source] of Object.entries(sources ?? {})) add(source, ...path, name);
  };
  const { kind, resource } = loaded;
  if (kind === 'Model') {
    const { spec } = resource;
    add('apiKey' in spec ? spec.apiKey : undefined, 'apiKey');
    add('endpoint' in spec ? spec.endpoint : undefined, 'endpoint');
    if ('options' in spec && spec.options !== undefined && 'headers' in spec.options) {
      addEach(spec.options.headers, 'options', 'headers');
    }
    const variables = providerOf(spec.provider);
    if (variables !== undefined && !('apiKey' in spec && spec.apiKey !== undefined)) {
      uses.push({ variable: variables.key, path: ['spec', 'provider'] });
    }
  }
  if (kind === 'Agent') {
    addEach(resource.spec.environment, 'environment');
    for (const { written, path } of modelsOf(loaded)) {
      const variables = providerOf(parseModelName(written)?.provider ?? '');
      if (variables !== undefined) uses.push({ variable: variables.key, path });
    }
  }
  if (kind === 'Connection') {
    addEach(resource.spec.environment, 'environment');
    addEach(resource.spec.secrets, 'secrets');
  }
  for (const { path, config } of configsOf(loaded)) {
    for (const { path: at, variable } of walkConfig(config, path)) {
      if (variable !== undefined) uses.push({ variable, path: [...at, 'valueFrom', 'env'] });
    }
  }
  return uses;
}

/** Returns the config with every `{ valueFrom: { env } }` replaced by the result of `get`. */
export function fillConfig(config: JsonObject, get: (variable: string, path: Path) => string): JsonObject {
  // Safe: filling in an object returns an object.
  return fill(config, []) as JsonObject;

  function fill(value: JsonValue, path: Path): JsonValue {
    if (Array.isArray(value)) return value.map((item, index) => fill(item, [...path, index]));
    if (!isPlainObject(value)) return value;
    const variable = readVariable(value);
    if (variable !== undefined) return get(variable, path);
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, [...path, key])]));
  }
}

function configsOf({ kind, resource }: LoadedResource): { path: Path; config: JsonValue }[] {
  if (kind === 'Extension' || kind === 'Tool' || kind === 'Connection') {
    return resource.spec.config === undefined ? [] : [{ path: ['spec', 'config'], config: resource.spec.config }];
  }
  const ofItems = (field: string, items: readonly ListItem[] = []) =>
    items.map((item, index) => ({ path: ['spec', field, index, 'config'], config: configOf(item) }));
  if (kind === 'Swarm') return ofItems('extensions', resource.spec.extensions);
  if (kind !== 'Agent') return [];
  const { extensions, tools, hooks = [] } = resource.spec;
  // Safe: a document is JSON.
  const ofHooks = { path: ['spec', 'hooks'], config: hooks as unknown as JsonValue };
  return [...ofItems('extensions', extensions), ...ofItems('tools', tools), ofHooks];
}

/**
 * Finds each `valueFrom`. `variable`: the name of the environment variable; undefined when the `valueFrom` is
 * malformed.
 */
function* walkConfig(value: JsonValue, path: Path): Generator<{ path: Path; variable: string | undefined }> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* walkConfig(item, [...path, index]);
  } else if (isPlainObject(value)) {
    if (Object.hasOwn(value, 'valueFrom')) yield { path, variable: readVariable(value) };
    else for (const [key, item] of Object.entries(value)) yield* walkConfig(item, [...path, key]);
  }
}

function readVariable(value: JsonObject): string | undefined {
  const { valueFrom, ...others } = value;
  if (!isPlainObject(valueFrom) || Object.keys(others).length > 0) return undefined;
  const { env, ...more } = valueFrom;
  return typeof env === 'string' && env !== '' && Object.keys(more).length === 0 ? env : undefined;
}
