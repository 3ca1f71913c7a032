import { pathSegment, shortHash } from './path-segment.ts';

export interface WorkspaceNames {
  /** `Swarm.spec.workspace`, when it is set. */
  readonly workspace?: string;
  readonly swarmName: string;
  /** With every link resolved, so that one bundle has one workspace however it was reached. */
  readonly bundleRealPath: string;
}

/** Two projects that both call their swarm `default` never share state, unless they name the same workspace. */
export function workspaceId({ workspace, swarmName, bundleRealPath }: WorkspaceNames): string {
  if (workspace !== undefined) return pathSegment(workspace);
  return `${pathSegment(swarmName)}-${shortHash(bundleRealPath)}`;
}
