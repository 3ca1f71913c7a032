import { BASE_LIBRARY } from './base-library.ts';
import type { LoadedResource, LoadedResourceOf, Scope } from './bundle.ts';
import type { WrittenReference } from './kinds/fields.ts';
import type { ResourceKind } from './kinds/resource-schemas.ts';
import { parseReference, referenceOf } from './references.ts';

/** The kinds of the resources in the base library. */
const BASE_KINDS: readonly string[] = ['Tool', 'Extension', 'Connector'];

/**
 * Returns the package in which a reference is looked up; `undefined` for the scope itself. A reference without a
 * package means a resource of the scope, and else one of the base library.
 */
export function packageOf(
  { declared }: Pick<Scope, 'declared'>,
  { kind, name, package: named }: Exclude<WrittenReference, string>,
): string | undefined {
  if (named !== undefined) return named;
  return declared.has(`${kind}/${name}`) || !BASE_KINDS.includes(kind) ? undefined : BASE_LIBRARY;
}

/**
 * Finds the resource that a reference names, and its scope. Returns `undefined` when the resource does not exist or has
 * another kind.
 */
export function findResource<Kind extends ResourceKind>(
  scope: Scope,
  kind: Kind,
  written: WrittenReference,
): FoundResource<Kind> | undefined {
  const reference = parseReference(written);
  if (reference === undefined || reference.kind !== kind) return undefined;
  const from = packageOf(scope, reference);
  const home = from === undefined ? scope : scope.packages.get(from);
  const found = home?.byIdentity.get(`${kind}/${reference.name}`);
  if (home === undefined || found === undefined || !isOfKind(found, kind)) return undefined;
  return { scope: home, loaded: found };
}

export interface FoundResource<Kind extends ResourceKind> {
  readonly scope: Scope;
  readonly loaded: LoadedResourceOf<Kind>;
}

function isOfKind<Kind extends ResourceKind>(
  candidate: LoadedResource,
  kind: Kind,
): candidate is LoadedResource & LoadedResourceOf<Kind> {
  return candidate.kind === kind;
}

/** Lists the agents of a swarm that exist. */
export function agentsOf(scope: Scope, { resource }: LoadedResourceOf<'Swarm'>): LoadedResourceOf<'Agent'>[] {
  return resource.spec.agents.flatMap((item) => findResource(scope, 'Agent', referenceOf(item))?.loaded ?? []);
}

/** Lists the resources of one kind. */
export function resourcesOf<Kind extends ResourceKind>(scope: Scope, kind: Kind): LoadedResourceOf<Kind>[] {
  return scope.resources.flatMap((candidate) => (isOfKind(candidate, kind) ? [candidate] : []));
}

/** Returns true if a document with an unknown kind or name may declare this resource, or any resource of the kind. */
export function mayDeclare({ unknown }: Scope, kind: string, name?: string): boolean {
  return unknown.some(
    (each) =>
      (each.kind === undefined || each.kind === kind) &&
      (each.name === undefined || name === undefined || each.name === name),
  );
}
