import type { AgentAddress } from '@goondan/types';
import { instanceFolderName } from './instance-folder-name.ts';
import { pathSegment } from './path-segment.ts';

/** A workspace, by where it is. */
export interface JournalLocation {
  readonly stateRoot: string;
  readonly workspaceId: string;
}

/** Where the files of one agent instance are. */
export interface InstancePaths {
  readonly folder: string;
  readonly metadata: string;
  readonly inbox: string;
  readonly outbox: string;
  readonly deadLetters: string;
  readonly lock: string;
  readonly scratch: string;
  readonly messages: string;
  readonly base: string;
  readonly events: string;
  readonly turn: string;
  readonly archive: string;
  readonly historyStart: string;
  readonly runtimeEvents: string;
  /** A file for each turn. */
  readonly traces: string;
  readonly extensions: string;
  extension(name: string): string;
}

/** Of a resolved path: no slash at its end. Not by `node:path`, which an agent that only starts does not load. */
export function workspaceFolder(stateRoot: string, workspaceId: string): string {
  return `${stateRoot}/workspaces/${workspaceId}`;
}

export function instancesFolder(workspace: string): string {
  return `${workspace}/instances`;
}

/** Who runs the workspace. */
export function ownerPath(workspace: string): string {
  return `${workspace}/orchestrator.json`;
}

/** Locked for as long as somebody runs the workspace. Created once, never renamed, never removed. */
export function workspaceLockPath(workspace: string): string {
  return `${workspace}/workspace.lock`;
}

/** Which swarm last ran in the workspace. */
export function swarmRecordPath(workspace: string): string {
  return `${workspace}/swarm.json`;
}

/** What everybody in the workspace has to say, for people. */
export function swarmLogPath(workspace: string): string {
  return `${workspace}/logs/swarm.jsonl`;
}

/** What people are asked about tool calls. */
export function approvalsPath(workspace: string): string {
  return `${workspace}/approvals.jsonl`;
}

/** What each agent was made of at its last start, one file for each. */
export function layersFolder(workspace: string): string {
  return `${workspace}/layers`;
}

export function layersPath(workspace: string, agentName: string): string {
  return `${layersFolder(workspace)}/${pathSegment(agentName)}.json`;
}

export function instancePaths(workspace: string, { agentName, instanceKey }: AgentAddress): InstancePaths {
  return pathsIn(`${instancesFolder(workspace)}/${instanceFolderName(agentName, instanceKey)}`);
}

/** For whoever found the folder and does not know yet whose it is. */
export function pathsIn(folder: string): InstancePaths {
  const messages = `${folder}/messages`;
  const extensions = `${folder}/extensions`;
  return {
    folder,
    metadata: `${folder}/metadata.json`,
    inbox: `${folder}/inbox.jsonl`,
    outbox: `${folder}/outbox.jsonl`,
    deadLetters: `${folder}/deadletter.jsonl`,
    lock: `${folder}/lock`,
    scratch: `${folder}/scratch`,
    messages,
    base: `${messages}/base.jsonl`,
    events: `${messages}/events.jsonl`,
    turn: `${messages}/turn.jsonl`,
    archive: `${messages}/archive.jsonl`,
    historyStart: `${messages}/history-start.jsonl`,
    runtimeEvents: `${messages}/runtime-events.jsonl`,
    traces: `${folder}/traces`,
    extensions,
    extension: (name) => `${extensions}/${pathSegment(name)}.json`,
  };
}

/** What becomes of the folder of an instance that was deleted, until it is gone. No instance's folder has such a name. */
export function deletedFolder(instances: string, id: string): string {
  return `${instances}/${DELETED}${id}`;
}

/** Where an instance is written that comes whole, before it takes its place. */
export function draftFolder(instances: string, id: string): string {
  return `${instances}/${DRAFT}${id}`;
}

/** It is no instance, any more or yet. */
export function isAside(name: string): boolean {
  return name.startsWith(DELETED) || name.startsWith(DRAFT);
}

const DELETED = '.deleted-';
const DRAFT = '.draft-';

/** What a file is written as before it takes its place. */
export function nextOf(path: string): string {
  return `${path}.next`;
}
