/**
 * Checks the configs of extensions, tools and connectors against the schemas that their resources declare. Each use of
 * such a resource is checked with the config of that use.
 */
import type { CodePlace, JsonObject } from '@goondan/types';
import type { SchemaCheck } from '../../../json/json-schema.ts';
import { describeConfigProblem } from '../../describe-config-problem.ts';
import { mergeConfig } from '../../merge-config.ts';
import type { LoadedResourceOf, Scope } from '../bundle.ts';
import { errorAt, type Finding } from '../bundle-problem.ts';
import { findResource, resourcesOf } from '../find-resource.ts';
import { type Path, valueAt } from '../place.ts';
import { configOf, type ListItem, referenceOf } from '../references.ts';
import { configErrors, findConfigProblems, readConfigSchema, toPath } from './config-schema.ts';

export async function checkConfigs(scopes: readonly Scope[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  const checks = new Map<Use['used'], () => Promise<SchemaCheck | undefined>>();
  const kinds = ['Extension', 'Tool', 'Connector'] as const;
  for (const loaded of scopes.flatMap((scope) => kinds.flatMap((kind) => resourcesOf(scope, kind)))) {
    const found = readConfigSchema(loaded);
    if (typeof found === 'function') checks.set(loaded, found);
    else if (found !== undefined) findings.push(found);
  }
  for (const use of scopes.flatMap((scope) => [...listUses(scope)])) {
    const check = await checks.get(use.used)?.();
    if (check !== undefined) findings.push(...checkUse(check, use));
  }
  return findings;
}

/**
 * A resource (`user`) that uses another resource (`used`). Its config is merged over the used resource's own config.
 */
interface Use {
  readonly user: LoadedResourceOf<'Agent' | 'Swarm' | 'Connection'>;
  readonly path: Path;
  readonly config: JsonObject;
  readonly used: LoadedResourceOf<keyof typeof configErrors>;
}

function* listUses(scope: Scope): Generator<Use> {
  for (const agent of resourcesOf(scope, 'Agent')) {
    yield* usesOf(scope, agent, 'extensions', agent.resource.spec.extensions);
    yield* usesOf(scope, agent, 'tools', agent.resource.spec.tools);
  }
  for (const swarm of resourcesOf(scope, 'Swarm')) {
    yield* usesOf(scope, swarm, 'extensions', swarm.resource.spec.extensions);
  }
  for (const connection of resourcesOf(scope, 'Connection')) {
    const { connectorRef, config = {} } = connection.resource.spec;
    const used = findResource(scope, 'Connector', connectorRef)?.loaded;
    if (used !== undefined) yield { user: connection, path: ['spec', 'config'], config, used };
  }
}

function* usesOf(
  scope: Scope,
  user: Use['user'],
  field: 'extensions' | 'tools',
  items: readonly ListItem[] = [],
): Generator<Use> {
  for (const [index, item] of items.entries()) {
    const used = findResource(scope, field === 'tools' ? 'Tool' : 'Extension', referenceOf(item))?.loaded;
    if (used !== undefined) yield { user, path: ['spec', field, index, 'config'], config: configOf(item), used };
  }
}

function checkUse(check: SchemaCheck, use: Use): Finding[] {
  const { used, user, config } = use;
  const merged = mergeConfig(ownConfig(use), config);
  return findConfigProblems(check, merged).map((problem) => {
    const message = describeConfigProblem(problem, merged, used.resource.spec.configSchema);
    const text =
      used.kind === 'Connector'
        ? `The config does not fit ${used.identity}: ${message}.`
        : `The config of ${used.identity} does not fit: ${message}.`;
    return errorAt(placeOf(use, problem.path), configErrors[used.kind], text, undefined, user.identity);
  });
}

/** Returns the place where the effective value is written: in the resource `user`, or in the resource `used`. */
function placeOf(use: Use, keys: readonly string[]): CodePlace {
  const own = ownConfig(use);
  if (valueAt(use.config, keys) === undefined && keys.length > 0 && valueAt(own, keys) !== undefined) {
    return use.used.document.placeOf(['spec', 'config', ...toPath(own, keys)]);
  }
  return use.user.document.placeOf([...use.path, ...toPath(use.config, keys)]);
}

function ownConfig({ used: { resource } }: Use): JsonObject {
  return resource.kind === 'Connector' ? {} : (resource.spec.config ?? {});
}
