/** Values from the environment: written as they must be, and there. One that is not there is only warned about here. */
import type { Bundle, LoadedResource, Scope } from '../bundle.ts';
import { errorAt, type Finding, warningAt } from '../bundle-problem.ts';
import { findResource } from '../find-resource.ts';
import { listReferences } from '../references.ts';
import { type Environment, listMalformedValues, listVariables, lookUp } from '../values.ts';

export function* checkValues(
  scopes: readonly Scope[],
  environment: Environment,
  environmentFile: Bundle['environmentFile'],
): Generator<Finding> {
  for (const loaded of listUsed(scopes)) {
    const { document, identity } = loaded;
    for (const path of listMalformedValues(loaded)) {
      const message = 'valueFrom must be exactly { env: NAME }, alone in its object.';
      yield errorAt(document.placeOf([...path, 'valueFrom'], 'key'), 'E_RESOURCE_INVALID', message, {
        resource: identity,
      });
    }
    for (const { variable, path } of listVariables(loaded)) {
      if (lookUp(variable, environment, environmentFile) !== undefined) continue;
      const message = `The environment variable ${variable} is not set.`;
      yield warningAt(document.placeOf(path), 'E_ENV_MISSING', message, { resource: identity });
    }
  }
}

/** Everything of the bundle, and of packages what somebody refers to: nobody needs keys for what is not used. */
function listUsed(scopes: readonly Scope[]): Iterable<LoadedResource> {
  const used = new Set<LoadedResource>(scopes[0]?.resources);
  for (const scope of scopes) {
    for (const loaded of scope.resources) {
      for (const { kind, written } of listReferences(loaded)) {
        const target = findResource(scope, kind, written)?.loaded;
        // What is found is one of them; its type only says which kind it was asked for.
        if (target !== undefined) used.add(target as LoadedResource);
      }
    }
  }
  return used;
}
