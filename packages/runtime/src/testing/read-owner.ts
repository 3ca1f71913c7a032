/** Reads which orchestrator runs a workspace, from the file `orchestrator.json`. */
import { codedFs } from '../ports/coded-fs.ts';
import { systemFs } from '../ports/fs.ts';
import { systemProcesses } from '../ports/processes.ts';
import { ownerPath, workspaceFolder } from '../workspace/layout/instance-paths.ts';
import { readLock } from '../workspace/lock/acquire-lock.ts';
import { decodeRecord, type SwarmRun, type WorkspacePlace } from '../workspace/swarms/own-workspace.ts';

export interface RunningSwarm extends SwarmRun {
  readonly pid: number;
  readonly startedAt: Date;
}

/** Returns the running swarm; `undefined` when no process runs the workspace. **Errors** — `E_STORE_READ`. */
export async function readOwner(place: WorkspacePlace): Promise<RunningSwarm | undefined> {
  const { fs = systemFs, processes = systemProcesses } = place;
  const path = ownerPath(workspaceFolder(place.stateRoot, place.workspaceId));
  const { owner } = await readLock(codedFs(fs), path);
  if (!owner || !processes.isAlive(owner)) return undefined;
  const record = decodeRecord(owner);
  if (!record) return undefined;
  const { broken: _, startedAt, ...run } = record;
  return { ...run, pid: owner.pid, startedAt: new Date(startedAt) };
}
