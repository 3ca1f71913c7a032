import { pathSegment, shortHash } from './path-segment.ts';

export interface WorkspaceNames {
  /** `Swarm.spec.workspace`, if set. */
  readonly workspace?: string;
  readonly swarmName: string;
  /** The path with all symbolic links resolved, so that a bundle has the same workspace under every path to it. */
  readonly bundleRealPath: string;
}

/**
 * Returns the id of a workspace. Two bundles with a swarm named `default` do not share state, unless they name the same
 * workspace.
 */
export function workspaceId({ workspace, swarmName, bundleRealPath }: WorkspaceNames): string {
  if (workspace !== undefined) return pathSegment(workspace);
  return `${pathSegment(swarmName)}-${shortHash(bundleRealPath)}`;
}

/**
 * Returns the id of the local workspace of a node. Several nodes of a swarm can run on one machine, also with several stores.
 * `store`: a text about the store, without a secret. No id of `workspaceId` has an `@`, so lists of swarms leave nodes out.
 */
export function nodeWorkspaceId(swarm: string, node: string, store = ''): string {
  return `node@${pathSegment(`${swarm}@${node}@${store}`)}`;
}
