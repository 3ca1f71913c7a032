/**
 * Checks values from the environment: their form, and whether the variable is set. A variable that is not set is only a
 * warning here.
 */
import type { Bundle, LoadedResource, Scope } from '../bundle.ts';
import { errorIn, type Finding, warningIn } from '../bundle-problem.ts';
import { findResource } from '../find-resource.ts';
import { listReferences } from '../references.ts';
import type { Environment } from '../../variable-name.ts';
import { listMalformedValues, listVariables, lookUp } from '../values.ts';

export function* checkValues(
  scopes: readonly Scope[],
  environment: Environment,
  environmentFile: Bundle['environmentFile'],
): Generator<Finding> {
  for (const loaded of listUsed(scopes)) {
    for (const path of listMalformedValues(loaded)) {
      const message = 'valueFrom must be exactly { env: NAME }, alone in its object.';
      yield errorIn(loaded, [...path, 'valueFrom'], 'E_RESOURCE_INVALID', message, undefined, 'key');
    }
    for (const { variable, path } of listVariables(loaded)) {
      if (lookUp(variable, environment, environmentFile) !== undefined) continue;
      yield warningIn(loaded, path, 'E_ENV_MISSING', `The environment variable ${variable} is not set.`);
    }
  }
}

/**
 * Lists all resources of the bundle, and the resources of packages that are referred to. Unused resources of packages
 * need no keys.
 */
function listUsed(scopes: readonly Scope[]): Iterable<LoadedResource> {
  const used = new Set<LoadedResource>(scopes[0]?.resources);
  for (const scope of scopes) {
    for (const loaded of scope.resources) {
      for (const { kind, written } of listReferences(loaded)) {
        const target = findResource(scope, kind, written)?.loaded;
        // Safe: the result is one of the loaded resources; its type only narrows the kind.
        if (target !== undefined) used.add(target as LoadedResource);
      }
    }
  }
  return used;
}
