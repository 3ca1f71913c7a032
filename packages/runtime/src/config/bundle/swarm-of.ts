import type { LoadedResourceOf, Scope } from './bundle.ts';
import { findResource, type FoundResource, resourcesOf } from './find-resource.ts';

/** The swarm a connection listens for: the one it names, or the only one there is. */
export function swarmOf(
  scope: Scope,
  { resource }: LoadedResourceOf<'Connection'>,
): FoundResource<'Swarm'> | undefined {
  const { swarmRef } = resource.spec;
  if (swarmRef !== undefined) return findResource(scope, 'Swarm', swarmRef);
  const [only, another] = resourcesOf(scope, 'Swarm');
  return only === undefined || another !== undefined ? undefined : { scope, loaded: only };
}
