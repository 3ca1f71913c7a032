/** Lists the swarms of a bundle folder by their stored records. The bundle folder is not read and need not exist. */
import { statSync } from 'node:fs';
import { followLinks } from '../layout/follow-links.ts';
import { swarmLogPath, workspaceFolder } from '../layout/instance-paths.ts';
import { shortHash } from '../layout/path-segment.ts';
import { workspaceIds } from './list-workspaces.ts';
import { readSwarmRecord, recordedRuns, type SwarmRecord } from './swarm-record.ts';

export interface KnownSwarm {
  readonly swarm: string;
  readonly workspaceId: string;
}

/**
 * Lists the swarms; the swarm with the newest log line comes first. A name appears twice when the swarm was moved to
 * another workspace.
 */
export function listKnownSwarms(stateRoot: string, folder: string): KnownSwarm[] {
  const real = followLinks(folder);
  return workspaceIds(stateRoot)
    .flatMap((workspaceId) =>
      namesIn(readSwarmRecord({ stateRoot, workspaceId }), workspaceId, real).map((swarm) => ({ swarm, workspaceId })),
    )
    .map((known) => ({ known, loggedAt: loggedAt(stateRoot, known.workspaceId) }))
    .toSorted((one, other) => other.loggedAt - one.loggedAt)
    .map(({ known }) => known);
}

/** Returns the names under which swarms of this folder ran in the workspace. */
function namesIn(record: SwarmRecord | undefined, workspaceId: string, folder: string): string[] {
  const recorded = recordedRuns(record).filter((run) => run.folder === folder);
  if (recorded.length > 0) return recorded.map(({ swarm }) => swarm);
  // A record may be lost. But a generated workspace id ends in a hash of the folder.
  const ending = `-${shortHash(folder)}`;
  return record === undefined && workspaceId.endsWith(ending) ? [workspaceId.slice(0, -ending.length)] : [];
}

function loggedAt(stateRoot: string, workspaceId: string): number {
  return statSync(swarmLogPath(workspaceFolder(stateRoot, workspaceId)), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
