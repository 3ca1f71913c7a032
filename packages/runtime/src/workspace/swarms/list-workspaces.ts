/** Lists the workspaces of a state root. Takes no lock, and opens no conversation. */
import { type Dirent, readdirSync, statSync } from 'node:fs';
import { instancesFolder, isAside, type JournalLocation, pathsIn, workspaceFolder } from '../layout/instance-paths.ts';
import { readSwarmRecord } from './swarm-record.ts';

export interface ListedWorkspace {
  readonly workspaceId: string;
  /** The name of the swarm that last ran in the workspace, if known. */
  readonly swarm?: string;
  /** The number of conversations, including damaged ones. */
  readonly instances: number;
  /** The time of the newest commit; absent when there are no conversations. */
  readonly updatedAt?: Date;
}

/** The number of conversations per workspace that are checked for `updatedAt`. */
const MOST_LOOKED_AT = 10_000;
/** The format of ids from `workspaceId`. */
const ID = /^[a-z0-9_][a-z0-9_-]{0,127}$/;

/** Lists the workspaces in no particular order. Leaves out other files, and folders that this process may not read. */
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

/** Lists only the ids of the workspaces. */
export function workspaceIds(stateRoot: string): string[] {
  return foldersIn(workspaceFolder(stateRoot, '')).filter(
    (workspaceId) => ID.test(workspaceId) && isUsed({ stateRoot, workspaceId }),
  );
}

/** Files that an owner of the workspace makes before anything else. */
const OWNER_FILE = /^(?:workspace\.lock|orchestrator\.json(?:\.\d+)?)$/;

/**
 * Returns true if a swarm has run in the workspace, or if nobody can tell. A restore that failed or was killed may leave a
 * workspace that is not used.
 */
export function isUsed({ stateRoot, workspaceId }: JournalLocation): boolean {
  try {
    return readdirSync(workspaceFolder(stateRoot, workspaceId)).some((name) => !OWNER_FILE.test(name));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}

/**
 * Returns the time at which a conversation was last created or deleted, or `undefined` when the workspace never had
 * one.
 */
export function instancesChangedAt(stateRoot: string, workspaceId: string): number | undefined {
  const folder = instancesFolder(workspaceFolder(stateRoot, workspaceId));
  return statSync(folder, { throwIfNoEntry: false })?.mtimeMs;
}

/** Returns the time of an instance's last checkpoint; without one, that of the last change of its log. */
function changed(folder: string, name: string): number {
  const { metadata, events } = pathsIn(`${folder}/${name}`);
  const timeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return timeOf(metadata) ?? timeOf(events) ?? 0;
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
