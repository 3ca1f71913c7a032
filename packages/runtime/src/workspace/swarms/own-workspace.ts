/**
 * Ensures that a workspace has one orchestrator. The orchestrator holds the `flock` of `workspace.lock`, which excludes
 * all other processes of the machine. `orchestrator.json` names the owner and its run, for the next owner. Without
 * `flock`, `orchestrator.json` itself is the lock.
 *
 * Invariants: 1. While an owner is alive, no other process becomes the owner, even if the owner's process is not
 * visible or `orchestrator.json` is damaged. 2. An owner detects with `isLost` that its lock file was removed or
 * replaced. 3. A run that did not end with `release` is reported to every later owner, because each owner may die
 * before its cleanup is done. The reports end when a run ends with `release`. Their number is limited. 4. The rest of an
 * interrupted restore is removed by the next owner, and never while the restore is alive, because it owns the workspace.
 */
import { GoondanError, type JsonValue } from '@goondan/types';
import { hostname } from 'node:os';
import { type Check, type FieldsOf, listOf, number, object, optional, text } from '../../ipc/check/shape.ts';
import { sleep, systemClock } from '../../ports/clock.ts';
import { type Flock, systemFlock } from '../../ports/flock.ts';
import { systemFs } from '../../ports/fs.ts';
import { type ProcessIdentity, type Processes, systemProcesses } from '../../ports/processes.ts';
import { ownerPath, workspaceFolder, workspaceLockPath, type StorePlace } from '../layout/instance-paths.ts';
import { makeFolders } from '../layout/make-folders.ts';
import { putReplacedBack, removeRestoreLeftovers } from '../layout/restored-workspace.ts';
import { codedFs } from '../../ports/coded-fs.ts';
import { acquireLock, type LockOwner } from '../lock/acquire-lock.ts';
import { lockWorkspace } from '../lock/lock-workspace.ts';
import { newUuid } from '../../ports/ids.ts';

export interface WorkspacePlace extends StorePlace {
  /** False on a file system without `flock`. In this case an owner whose process is not visible counts as dead. */
  readonly flock?: Flock | false;
}

/** An orchestrator's description of itself. */
export interface SwarmRun {
  readonly swarm: string;
  /** The tag in the environment of every process of the run. */
  readonly runTag: string;
  readonly controlSocket?: string;
}

/** A run that ended without releasing the workspace. Some of its processes may still be running. */
export interface BrokenRun {
  readonly pid: number;
  readonly runTag: string;
}

export interface WorkspaceOwner {
  /** Runs that ended without releasing the workspace, and whose processes may not all have been ended. Newest first. */
  readonly broken: readonly BrokenRun[];
  /**
   * Returns true if the lock file was removed or replaced. Another process may then own the workspace, so this process
   * must not write to it. Costs 2 µs.
   */
  isLost(): boolean;
  /**
   * Releases the workspace. Call it after all processes of the run have ended: the next owner then gets no report of a
   * broken run.
   */
  release(): Promise<void>;
}

const BROKEN_RUNS = 9;

interface OwnerRecord extends SwarmRun {
  readonly startedAt: string;
  /** Newest first. */
  readonly broken: readonly BrokenRun[];
}

/**
 * Takes the workspace. **Errors** — `E_SWARM_RUNNING`, naming the owner if it is known; `E_STATE_ROOT` when the file
 * system has no `flock`; `E_DISK_FULL`, `E_STORE_READ`, `E_STORE_WRITE`.
 */
export async function ownWorkspace(place: WorkspacePlace, run: SwarmRun): Promise<WorkspaceOwner> {
  const { clock = systemClock, processes = systemProcesses } = place;
  const fs = codedFs(place.fs ?? systemFs);
  const folder = workspaceFolder(place.stateRoot, place.workspaceId);
  await putReplacedBack(fs, place.stateRoot, place.workspaceId);
  await makeFolders(fs, place.stateRoot, folder);
  const startedAt = clock.now().toISOString();
  const held = await holdLock(place, folder, {
    ...processes.self(),
    swarm: run.swarm,
    runTag: run.runTag,
    since: startedAt,
  });
  try {
    const lock = await acquireLock(
      {
        fs,
        processes,
        holder: newUuid(),
        what: folder,
        about: (before) => encodeRecord({ ...run, startedAt, broken: brokenOf(before) }),
        refusal: (owner) => new GoondanError('E_SWARM_RUNNING', describeOwner(folder, owner)),
      },
      ownerPath(folder),
    );
    // If they cannot be removed, the next owner tries again: they are only in the way of a restore.
    await removeRestoreLeftovers(fs, place.stateRoot, place.workspaceId).catch(() => undefined);
    const release = () => lock.release().finally(() => held.release());
    return { broken: brokenOf(lock.previous), isLost: () => !held.isInPlace(), release };
  } catch (error) {
    held.release();
    throw error;
  }

  /**
   * Returns the runs that ended without a release. `workspace.lock` names the last one, too, in case
   * `orchestrator.json` was removed or damaged.
   */
  function brokenOf(before: LockOwner | undefined): readonly BrokenRun[] {
    const runs = brokenRuns(before);
    const last = decodeHolder(held.before);
    if (last === undefined || runs.some(({ runTag }) => runTag === last.runTag)) return runs;
    return [{ pid: last.pid, runTag: last.runTag }, ...runs];
  }
}

/** The contents of `workspace.lock`. */
interface Holder extends ProcessIdentity, Pick<SwarmRun, 'swarm' | 'runTag'> {
  readonly since: string;
  readonly host: string;
}

function holdLock(
  { flock = systemFlock, processes = systemProcesses }: WorkspacePlace,
  folder: string,
  holder: Omit<Holder, 'host'>,
) {
  return lockWorkspace({
    path: workspaceLockPath(folder),
    flock: flock === false ? undefined : flock,
    text: JSON.stringify({ ...holder, host: hostname() } satisfies Holder),
    refusal: async (readText) => {
      const found = await readHolder(readText, processes);
      return new GoondanError('E_SWARM_RUNNING', describeHolder(folder, found, processes));
    },
  });
}

const READ_AGAIN_MS = 20;
const MOST_READS = 10;

/**
 * Reads the holder of the lock. A new holder writes its name only after it has locked the file; until then the file may
 * still name a dead holder.
 */
async function readHolder(readText: () => string, processes: Processes): Promise<Holder | undefined> {
  for (let read = 1; ; read += 1) {
    const holder = decodeHolder(readText());
    if (read === MOST_READS || (holder !== undefined && processes.isAlive(holder))) return holder;
    await sleep(systemClock, READ_AGAIN_MS);
  }
}

function describeHolder(folder: string, holder: Holder | undefined, processes: Processes): string {
  if (holder === undefined) return `Another orchestrator runs in ${folder} already; its process is not known`;
  const { swarm, pid, since, host } = holder;
  const where = processes.isAlive(holder) ? '' : ` of ${host}, which is not visible from here`;
  return `Swarm ${swarm} runs in ${folder} already: process ${pid}${where}, since ${since}`;
}

function decodeHolder(written: string): Holder | undefined {
  try {
    return holderOf(JSON.parse(written));
  } catch {
    return undefined;
  }
}

const holderOf: Check<Holder> = object({
  pid: number,
  startedAt: text,
  swarm: text,
  runTag: text,
  since: text,
  host: text,
} satisfies FieldsOf<Holder>);

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

/** Reads the record of an owner. Returns `undefined` for a damaged record. */
export function decodeRecord({ about }: LockOwner): OwnerRecord | undefined {
  try {
    return recordOf(about);
  } catch {
    return undefined;
  }
}

const recordOf: Check<OwnerRecord> = object({
  swarm: text,
  runTag: text,
  controlSocket: optional(text),
  startedAt: text,
  broken: listOf(object({ pid: number, runTag: text } satisfies FieldsOf<BrokenRun>)),
});
