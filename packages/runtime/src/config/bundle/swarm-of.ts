import type { LoadedResourceOf, Scope } from './bundle.ts';
import { findResource, type FoundResource, resourcesOf } from './find-resource.ts';

/** Returns the swarm of a connection: the one it names, or the only one in the scope. */
export function swarmOf(
  scope: Scope,
  { resource }: LoadedResourceOf<'Connection'>,
): FoundResource<'Swarm'> | undefined {
  const { swarmRef } = resource.spec;
  if (swarmRef !== undefined) return findResource(scope, 'Swarm', swarmRef);
  const [only, another] = resourcesOf(scope, 'Swarm');
  if (only === undefined || another !== undefined || declaredSwarms(scope).length > 1) return undefined;
  return { scope, loaded: only };
}

/** Returns the rules of a connection. Without `ingress`, the entry agent gets all events. */
export function rulesOf({ resource: { spec } }: LoadedResourceOf<'Connection'>) {
  return spec.ingress?.rules ?? [{ route: {} }];
}

/** Lists `Swarm/name` of each swarm, including broken ones, because a connection may refer to them. */
export function declaredSwarms({ declared }: Scope): readonly string[] {
  return [...declared].filter((identity) => identity.startsWith('Swarm/'));
}
