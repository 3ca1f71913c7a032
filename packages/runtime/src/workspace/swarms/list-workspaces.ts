/** Lists the workspaces of a state root. Takes no lock, and opens no conversation. */
import { type Dirent, readdirSync, statSync } from 'node:fs';
import { instancesFolder, isAside, pathsIn, workspaceFolder } from '../layout/instance-paths.ts';
import { readSwarmRecord } from './swarm-record.ts';

export interface ListedWorkspace {
  readonly workspaceId: string;
  /** The swarm that last ran there, if known. */
  readonly swarm?: string;
  /** The number of conversations, including damaged ones. */
  readonly instances: number;
  /** The time of the newest change; absent without conversations. */
  readonly updatedAt?: Date;
}

/** Conversations per workspace that are checked for `updatedAt`. */
const MOST_LOOKED_AT = 10_000;
/** The format of ids from `workspaceId`. */
const ID = /^[a-z0-9_][a-z0-9_-]{0,127}$/;

/** Lists them in no particular order. Other files, and folders without permission, are left out. */
export function listWorkspaces(stateRoot: string): ListedWorkspace[] {
  return workspaceIds(stateRoot).map((workspaceId) => {
    const folder = instancesFolder(workspaceFolder(stateRoot, workspaceId));
    const names = foldersIn(folder).filter((name) => !isAside(name));
    const newest = names.slice(0, MOST_LOOKED_AT).reduce((latest, name) => Math.max(latest, changed(folder, name)), 0);
    const { swarm } = readSwarmRecord({ stateRoot, workspaceId }) ?? {};
    return {
      workspaceId,
      ...(swarm === undefined ? {} : { swarm }),
      instances: names.length,
      ...(newest === 0 ? {} : { updatedAt: new Date(newest) }),
    };
  });
}

/** Lists only the ids. */
export function workspaceIds(stateRoot: string): string[] {
  return foldersIn(workspaceFolder(stateRoot, '')).filter((name) => ID.test(name));
}

/** Returns the time at which a conversation was last created or deleted. `undefined` when there never was one. */
export function instancesChangedAt(stateRoot: string, workspaceId: string): number | undefined {
  const folder = instancesFolder(workspaceFolder(stateRoot, workspaceId));
  return statSync(folder, { throwIfNoEntry: false })?.mtimeMs;
}

/** Returns the time of the last commit, which is when the metadata was replaced. */
function changed(folder: string, name: string): number {
  return statSync(pathsIn(`${folder}/${name}`).metadata, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function foldersIn(folder: string): string[] {
  return entriesOf(folder).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
