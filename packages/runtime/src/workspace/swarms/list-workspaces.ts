/** Which workspaces a state root has, for lists. Takes no lock, and opens no conversation. */
import { type Dirent, readdirSync, statSync } from 'node:fs';
import { instancesFolder, isAside, pathsIn, workspaceFolder } from '../layout/instance-paths.ts';
import { readSwarmRecord } from './swarm-record.ts';

export interface ListedWorkspace {
  readonly workspaceId: string;
  /** The one that last ran there, when that is known. */
  readonly swarm?: string;
  /** How many conversations it has, damaged ones too. */
  readonly instances: number;
  /** When the newest of them changed; absent when none has. */
  readonly updatedAt?: Date;
}

/** Of each workspace so many conversations are looked at for `updatedAt`. */
const MOST_LOOKED_AT = 10_000;
/** As `workspaceId` makes them. */
const ID = /^[a-z0-9_][a-z0-9_-]{0,127}$/;

/** In no order. What is no folder of ours, or may not be read, is not one of them. */
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

/** The same, only which. */
export function workspaceIds(stateRoot: string): string[] {
  return foldersIn(workspaceFolder(stateRoot, '')).filter((name) => ID.test(name));
}

/** When a conversation of it last came or went; another moment, not which. `undefined` when there never was one. */
export function instancesChangedAt(stateRoot: string, workspaceId: string): number | undefined {
  const folder = instancesFolder(workspaceFolder(stateRoot, workspaceId));
  return statSync(folder, { throwIfNoEntry: false })?.mtimeMs;
}

/** The replacement of its metadata is what commits a turn. */
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
