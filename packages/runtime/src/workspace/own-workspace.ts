/**
 * One orchestrator for each workspace. `orchestrator.json` is its lock and says who it is, so that whoever is refused can
 * name it, and whoever comes after its death knows which run it was.
 *
 * Invariants: 1. While an owner lives there is no other. 2. A run that did not end by `release` is told to every owner
 * after it until one ends by `release`, as far as the bound goes: each may die before it has cleaned up.
 */
import { GoondanError, type JsonValue } from '@goondan/types';
import { type Clock, systemClock } from '../ports/clock.ts';
import { type Fs, systemFs } from '../ports/fs.ts';
import { type Processes, systemProcesses } from '../ports/processes.ts';
import type { JournalLocation } from './journal/instance-slots.ts';
import { ownerPath, workspaceFolder } from './layout/instance-paths.ts';
import { makeFolders } from './layout/make-folders.ts';
import { codedFs } from './lines/coded-fs.ts';
import { acquireLock, readLockOwner, type LockOwner } from './lock/acquire-lock.ts';
import { newUuid } from '../ports/ids.ts';

export interface WorkspacePlace extends JournalLocation {
  readonly fs?: Fs;
  readonly clock?: Clock;
  readonly processes?: Processes;
}

/** What an orchestrator says about itself. */
export interface SwarmRun {
  readonly swarm: string;
  /** In the environment of every process of the run. */
  readonly runTag: string;
  readonly controlSocket?: string;
}

export interface RunningSwarm extends SwarmRun {
  readonly pid: number;
  readonly startedAt: Date;
}

/** A run that ended without giving the workspace back. Processes of it may be left. */
export interface BrokenRun {
  readonly pid: number;
  readonly runTag: string;
}

export interface WorkspaceOwner {
  /** The run before, when it was broken off. */
  readonly previous?: BrokenRun;
  /** Those before it, newest first, that nobody can be sure were cleaned up after. At most 8. */
  readonly earlier: readonly BrokenRun[];
  /** Everything of the run has ended: the next owner is told of no broken one. */
  release(): Promise<void>;
}

const FORMAT_VERSION = 1;
const BROKEN_RUNS = 9;

interface OwnerRecord extends SwarmRun {
  readonly formatVersion: typeof FORMAT_VERSION;
  readonly startedAt: string;
  /** Newest first. */
  readonly broken: readonly BrokenRun[];
}

/** **Errors** — `E_SWARM_RUNNING`, naming the owner, while that lives; `E_DISK_FULL`, `E_STORE_READ`, `E_STORE_WRITE`. */
export async function ownWorkspace(place: WorkspacePlace, run: SwarmRun): Promise<WorkspaceOwner> {
  const { clock = systemClock, processes = systemProcesses } = place;
  const fs = codedFs(place.fs ?? systemFs);
  const folder = workspaceFolder(place.stateRoot, place.workspaceId);
  await makeFolders(fs, place.stateRoot, folder);
  const startedAt = clock.now().toISOString();
  const lock = await acquireLock(
    {
      fs,
      processes,
      holder: newUuid(),
      what: folder,
      about: (before) => encodeRecord({ ...run, formatVersion: FORMAT_VERSION, startedAt, broken: brokenRuns(before) }),
      refusal: (owner) => new GoondanError('E_SWARM_RUNNING', describeOwner(folder, owner)),
    },
    ownerPath(folder),
  );
  const [previous, ...earlier] = brokenRuns(lock.previous);
  return { ...(previous && { previous }), earlier, release: () => lock.release() };
}

/** `undefined` when nobody runs it. **Errors** — `E_STORE_READ`; `E_STORE_FORMAT` when a newer version does. */
export async function readOwner(place: WorkspacePlace): Promise<RunningSwarm | undefined> {
  const { fs = systemFs, processes = systemProcesses } = place;
  const path = ownerPath(workspaceFolder(place.stateRoot, place.workspaceId));
  const owner = await readLockOwner({ fs: codedFs(fs), processes }, path);
  if (!owner) return undefined;
  const record = decodeRecord(owner);
  if (!record) throw new GoondanError('E_STORE_FORMAT', `${path} is in a format this version does not know`);
  const { formatVersion: _, broken: __, startedAt, ...run } = record;
  return { ...run, pid: owner.pid, startedAt: new Date(startedAt) };
}

function brokenRuns(before: LockOwner | undefined): readonly BrokenRun[] {
  const record = before && decodeRecord(before);
  if (!record) return [];
  return [{ pid: before.pid, runTag: record.runTag }, ...record.broken].slice(0, BROKEN_RUNS);
}

function describeOwner(folder: string, owner: LockOwner): string {
  const record = decodeRecord(owner);
  const who = record ? `Swarm ${record.swarm}` : 'Another orchestrator';
  const since = record ? `, since ${record.startedAt}` : '';
  return `${who} runs in ${folder} already: process ${owner.pid}${since}`;
}

function encodeRecord({ broken, ...record }: OwnerRecord): JsonValue {
  return { ...record, broken: broken.map(({ pid, runTag }) => ({ pid, runTag })) };
}

function decodeRecord({ about }: LockOwner): OwnerRecord | undefined {
  if (!about || typeof about !== 'object' || !('formatVersion' in about)) return undefined;
  if (about['formatVersion'] !== FORMAT_VERSION) return undefined;
  // The lock file appears whole or not at all, and only encodeRecord writes this version.
  return about as unknown as OwnerRecord;
}
