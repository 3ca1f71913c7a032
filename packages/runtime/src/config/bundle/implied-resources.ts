/**
 * The resources that the short forms of a bundle stand for: the swarm of a lone agent, and a model that is written in its
 * agent. Everything else in the runtime sees them as resources, with places in the document of the agent.
 */
import type { JsonValue } from '@goondan/types';
import type { LoadedResourceOf } from './bundle.ts';
import type { ResourceKind, ResourceOf } from './kinds/resource-schemas.ts';
import type { Path } from './place.ts';
import { ownModelOf } from './references.ts';

/** Returns the Model that is written in an agent. It has the name of the agent. */
export function impliedModel(agent: LoadedResourceOf<'Agent'>): LoadedResourceOf<'Model'> | undefined {
  const spec = ownModelOf(agent.resource.spec);
  if (spec === undefined) return undefined;
  return imply(agent, 'Model', spec, ([first, ...rest]) => ['spec', 'model', ...(first === 'spec' ? rest : [])]);
}

/** Returns the Swarm of the only agent of a bundle. It has the name of the agent. */
export function impliedSwarm(agent: LoadedResourceOf<'Agent'>): LoadedResourceOf<'Swarm'> {
  const spec = { entryAgent: agent.identity, agents: [agent.identity] };
  return imply(agent, 'Swarm', spec, () => ['metadata', 'name']);
}

function imply<Kind extends ResourceKind>(
  { name, folder, package: from, resource: { apiVersion }, document }: LoadedResourceOf<'Agent'>,
  kind: Kind,
  spec: ResourceOf<Kind>['spec'],
  toAgent: (path: Path) => Path,
): LoadedResourceOf<Kind> {
  const resource = { apiVersion, kind, metadata: { name }, spec };
  return {
    kind,
    name,
    identity: `${kind}/${name}`,
    folder,
    ...(from !== undefined && { package: from }),
    // Safe: the spec is one of this kind.
    resource: resource as unknown as ResourceOf<Kind>,
    // Safe: resources are read from JSON.
    document: {
      ...document,
      value: resource as unknown as JsonValue,
      placeOf: (path, part) => document.placeOf(toAgent(path), part),
    },
    isImplied: true,
  };
}
