/** Checks that `innermost: true` is only where it can have its effect. */
import type { Scope } from '../bundle.ts';
import { errorIn, type Finding } from '../bundle-problem.ts';
import { findResource, resourcesOf } from '../find-resource.ts';
import { referenceOf } from '../references.ts';

export function* checkInnermost(scope: Scope): Generator<Finding> {
  for (const loaded of resourcesOf(scope, 'Extension')) {
    const { innermost = false, compat } = loaded.resource.spec;
    if (!innermost || compat === undefined) continue;
    const message = 'An extension with compat: v010 cannot be innermost: the outermost one runs the functions of all.';
    const suggestion = 'Remove innermost, or write the extension for the present API.';
    yield errorIn(loaded, ['spec', 'innermost'], 'E_RESOURCE_INVALID', message, suggestion);
  }
  for (const swarm of resourcesOf(scope, 'Swarm')) {
    for (const [index, item] of (swarm.resource.spec.extensions ?? []).entries()) {
      const found = findResource(scope, 'Extension', referenceOf(item))?.loaded;
      if (found?.resource.spec.innermost !== true) continue;
      const message = `${found.identity} has innermost: true, but the extensions of a swarm are outside of all others.`;
      const suggestion = 'List it in spec.extensions of the agents, or remove innermost from its spec.';
      yield errorIn(swarm, ['spec', 'extensions', index], 'E_RESOURCE_INVALID', message, suggestion);
    }
  }
}
