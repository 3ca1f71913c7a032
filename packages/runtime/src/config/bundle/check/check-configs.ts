/**
 * Checks the config of extensions and tools against the schema that their resource declares, for every resource that
 * lists them.
 */
import type { CodePlace, ErrorCode, JsonObject } from '@goondan/types';
import type { SchemaCheck } from '../../../json/json-schema.ts';
import { mergeConfig } from '../../merge-config.ts';
import type { LoadedResourceOf, Scope } from '../bundle.ts';
import { errorAt, type Finding } from '../bundle-problem.ts';
import { findResource, resourcesOf } from '../find-resource.ts';
import { configOf, type ListItem, referenceOf } from '../references.ts';
import { type CompileCheck, findConfigProblems, readConfigSchema, toPath, valueAt } from './config-schema.ts';

/** Kinds that get a config from the resource that lists them. */
type ConfiguredKind = 'Extension' | 'Tool';
type Configured = LoadedResourceOf<ConfiguredKind>;

const codes = { Extension: 'E_EXT_CONFIG', Tool: 'E_TOOL_CONFIG' } as const satisfies Record<ConfiguredKind, ErrorCode>;

export async function checkConfigs(scopes: readonly Scope[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  const checks = new Map<Configured, CompileCheck>();
  for (const loaded of scopes.flatMap((scope) => [...resourcesOf(scope, 'Extension'), ...resourcesOf(scope, 'Tool')])) {
    const found = readConfigSchema(loaded, codes[loaded.kind]);
    if (typeof found === 'function') checks.set(loaded, found);
    else if (found !== undefined) findings.push(found);
  }
  for (const use of scopes.flatMap((scope) => [...listUses(scope)])) {
    const check = await checks.get(use.listed)?.();
    if (check !== undefined) findings.push(...checkUse(check, use));
  }
  return findings;
}

/** An item of a list, and the config in that item. */
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

function checkUse(check: SchemaCheck, use: Use): Finding[] {
  const { listed, user } = use;
  return findConfigProblems(check, mergeConfig(listed.resource.spec.config ?? {}, use.over)).map(
    ({ path, message }) => {
      const text = `The config of ${listed.identity} does not fit: ${message}.`;
      return errorAt(placeOf(use, path), codes[listed.kind], text, { resource: user.identity });
    },
  );
}

/** Returns the place where the effective value is written: in the list item, or in the listed resource itself. */
function placeOf({ user, field, index, listed, over }: Use, keys: readonly string[]): CodePlace {
  const own = listed.resource.spec.config ?? {};
  if (valueAt(over, keys) === undefined && keys.length > 0 && valueAt(own, keys) !== undefined) {
    return listed.document.placeOf(['spec', 'config', ...toPath(own, keys)]);
  }
  return user.document.placeOf(['spec', field, index, 'config', ...toPath(over, keys)]);
}
