import { pathSegment, shortHash } from './path-segment.ts';

export interface WorkspaceNames {
  /** `Swarm.spec.workspace`, if set. */
  readonly workspace?: string;
  readonly swarmName: string;
  /** The path with all links resolved, so that a bundle has one workspace under all its paths. */
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
