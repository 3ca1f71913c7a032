/** The config an extension gets, against the schema its resource declares, for every agent and swarm that lists it. */
import type { JsonObject } from '@goondan/types';
import type { SchemaCheck } from '../../../json/json-schema.ts';
import { mergeConfig } from '../../merge-config.ts';
import type { LoadedResourceOf, Scope } from '../bundle.ts';
import { errorAt, type Finding } from '../bundle-problem.ts';
import { findResource, resourcesOf } from '../find-resource.ts';
import type { Place } from '../place.ts';
import { referenceOf } from '../references.ts';
import { findConfigProblems, readConfigSchema, toPath, valueAt } from './config-schema.ts';

type LoadedExtension = LoadedResourceOf<'Extension'>;

export async function checkExtensionConfigs(scopes: readonly Scope[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  const checks = new Map<LoadedExtension, SchemaCheck>();
  for (const loaded of scopes.flatMap((scope) => resourcesOf(scope, 'Extension'))) {
    const found = await readConfigSchema(loaded, 'E_EXT_CONFIG');
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

/** An item of `spec.extensions`, and the config it has there. */
interface Use {
  readonly user: LoadedResourceOf<'Agent' | 'Swarm'>;
  readonly index: number;
  readonly over: JsonObject;
}

function checkUse(extension: LoadedExtension, check: SchemaCheck, use: Use): Finding[] {
  const { config = {} } = extension.resource.spec;
  return findConfigProblems(check, mergeConfig(config, use.over)).map(({ path, message }) => {
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
