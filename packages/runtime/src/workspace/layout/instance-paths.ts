import type { AgentAddress } from '@goondan/types';
import type { StoreLimits } from '../limits.ts';
import type { StorePorts } from '../store-ports.ts';
import { pathSegment } from './path-segment.ts';

/** The location of a workspace. */
export interface JournalLocation {
  readonly stateRoot: string;
  readonly workspaceId: string;
}

/** A workspace, and the ports for its files. For an absent port, the port of the system is used. */
export interface StorePlace extends JournalLocation, Partial<StorePorts> {}

/** One instance on disk, with everything that is needed to read and write its files. */
export interface StoredInstance extends StorePorts {
  readonly paths: ReturnType<typeof pathsIn>;
  readonly address: AgentAddress;
  readonly limits: StoreLimits;
}

/**
 * Returns the folder of a workspace. `stateRoot` must be a resolved path without a trailing slash. This function does
 * without `node:path`, because a starting agent process would load that module only for this function.
 */
export function workspaceFolder(stateRoot: string, workspaceId: string): string {
  return `${stateRoot}/workspaces/${workspaceId}`;
}

export function instancesFolder(workspace: string): string {
  return `${workspace}/instances`;
}

/** Returns the folder of the inbox log. */
export function inboxFolder(workspace: string): string {
  return `${workspace}/inbox`;
}

/** Returns the path of the index of instances, which is derived from their files. */
export function indexPath(workspace: string): string {
  return `${workspace}/instances.jsonl`;
}

/** Returns the path of the model calls of deleted instances. */
export function deletedSpendingPath(workspace: string): string {
  return `${workspace}/deleted-usage.json`;
}

/** Returns the path of the file that names the owner of the workspace. */
export function ownerPath(workspace: string): string {
  return `${workspace}/orchestrator.json`;
}

/**
 * Returns the path of the file that stays locked while an orchestrator runs the workspace. The file is created once,
 * and never renamed or removed.
 */
export function workspaceLockPath(workspace: string): string {
  return `${workspace}/workspace.lock`;
}

/** Returns the path of the record about the last swarm of the workspace. */
export function swarmRecordPath(workspace: string): string {
  return `${workspace}/swarm.json`;
}

/** Returns the folder of the logs of the workspace, for people. */
export function logsFolder(workspace: string): string {
  return `${workspace}/logs`;
}

/** Returns the path of the log of all processes of the workspace. */
export function swarmLogPath(workspace: string): string {
  return `${logsFolder(workspace)}/swarm.jsonl`;
}

/** Returns the folder of the traces of all instances. */
export function tracesFolder(workspace: string): string {
  return `${workspace}/traces`;
}

/** Returns the path of the approval requests. */
export function questionsPath(workspace: string): string {
  return `${workspace}/approvals.jsonl`;
}

/** Returns the folder with the bytes of images and files. */
export function blobsFolder(workspace: string): string {
  return `${workspace}/blobs`;
}

/** Returns the path of the counters that survive a restart. */
export function countersPath(workspace: string): string {
  return `${workspace}/counters.jsonl`;
}

/** Returns the folder with a folder for each connection, which the connection keeps its files in. */
export function connectionsFolder(workspace: string): string {
  return `${workspace}/connections`;
}

/** Returns the folder that stores the layers of each agent at its last start, one file per agent. */
export function layersFolder(workspace: string): string {
  return `${workspace}/layers`;
}

export function layersPath(workspace: string, agentName: string): string {
  return `${layersFolder(workspace)}/${pathSegment(agentName)}.json`;
}

/** Returns the working folder of the shared processes of an agent. */
export function sharedFolder(workspace: string, agentName: string): string {
  return `${workspace}/shared/${pathSegment(agentName)}`;
}

export function instancePaths(workspace: string, { agentName, instanceKey }: AgentAddress) {
  return pathsIn(`${instancesFolder(workspace)}/${instanceFolderName(agentName, instanceKey)}`);
}

/** Returns the folder in which the tools of an instance may keep files. It belongs to the machine, not to the store. */
export function scratchFolder({ stateRoot, workspaceId }: JournalLocation, instance: AgentAddress): string {
  return instancePaths(workspaceFolder(stateRoot, workspaceId), instance).scratch;
}

/**
 * Returns the name of an instance's folder: `<agent>~<key>`, with a hash if the key is not safe in a path. Neither part
 * contains `~`, so two instances never share a name.
 *
 * @example instanceFolderName('coder', 'default') // 'coder~default'
 */
export function instanceFolderName(agentName: string, instanceKey: string): string {
  return `${pathSegment(agentName)}~${pathSegment(instanceKey)}`;
}

/** Returns the paths of the files in the folder of one agent instance. */
export function pathsIn(folder: string) {
  const messages = `${folder}/messages`;
  const extensions = `${folder}/extensions`;
  return {
    folder,
    metadata: `${folder}/metadata.json`,
    lock: `${folder}/lock`,
    scratch: `${folder}/scratch`,
    messages,
    base: `${messages}/base.jsonl`,
    /** The current segment of the log. */
    events: `${messages}/events.jsonl`,
    historyStart: `${messages}/history-start.jsonl`,
    extensions,
    extension: (name: string) => `${extensions}/${pathSegment(name)}.json`,
  };
}

/**
 * Returns the path to which the folder of a deleted instance is renamed until it is removed. No instance can have this
 * folder name.
 */
export function deletedFolder(instances: string, id: string): string {
  return `${instances}/${DELETED}${id}`;
}

/** Returns the folder in which a complete instance is written before it is renamed into place. */
export function draftFolder(instances: string, id: string): string {
  return `${instances}/${DRAFT}${id}`;
}

/** Returns true if the folder holds a deleted instance or a draft. */
export function isAside(name: string): boolean {
  return name.startsWith(DELETED) || name.startsWith(DRAFT);
}

export const DELETED = '.deleted-';
export const DRAFT = '.draft-';

/** Returns the name under which a new file is written before it replaces `path`. */
export function nextOf(path: string): string {
  return `${path}.next`;
}
