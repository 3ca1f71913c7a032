/**
 * Allows one writer at a time, by a lock file that names its owner: process id, start time of the process, epoch.
 *
 * Two processes cannot both get the lock. The process that wants epoch n+1 creates the claim `<lock>.<n+1>`, which only
 * one process can do, and then checks that the lock still has epoch n and no living owner. Then it renames its claim to the
 * lock. While the claim exists, no other process can take epoch n+1, and after the rename the lock has an owner.
 * Nothing is synced: after a power loss no owner is alive.
 *
 * An owner that recorded its epoch elsewhere removes the lock file when it releases the lock. The record is written before
 * the file is removed, and read after the file was found missing. So no epoch is used twice.
 */
import { GoondanError, type JsonValue } from '@goondan/types';
import type { Fs, HeldFile } from '../../ports/fs.ts';
import type { ProcessIdentity, Processes } from '../../ports/processes.ts';
import { nextOf } from '../layout/instance-paths.ts';

export interface Lock {
  /** The number of this ownership, which is higher than that of every earlier owner. */
  readonly epoch: number;
  /** The previous owner, if it died without releasing the lock. */
  readonly previous?: LockOwner;
  /** Returns false once another process has taken the lock, or the lock file was deleted. It reads no file. */
  isHeld(): boolean;
  /**
   * Releases the lock. `isRecorded`: `recordedEpoch` of every later process returns at least this epoch, so the lock file
   * is removed.
   */
  release(isRecorded?: boolean): Promise<void>;
}

interface LockFile {
  readonly epoch: number;
  /** `null` after the lock was released. */
  readonly owner: LockOwner | null;
}

export interface LockOwner extends ProcessIdentity {
  readonly holder: string;
  /** The owner's description of itself. */
  readonly about?: JsonValue;
}

/** The process that wants the lock. */
export interface LockSeeker {
  readonly fs: Fs;
  readonly processes: Processes;
  /**
   * Identifies the caller within this process. If the lock already has the same `holder`, an earlier attempt of the
   * same caller left it.
   */
  readonly holder: string;
  /** The thing that is locked, for error messages. */
  readonly what: string;
  /** Describes the owner, for rejected processes and for the next owner. `before`: the previous owner, if it died. */
  readonly about?: (before: LockOwner | undefined) => JsonValue;
  /** Returns the epoch of the last owner that removed the lock file; 0 when there was none. */
  readonly recordedEpoch?: () => Promise<number>;
  /** The error for a rejected process; `E_LOCKED` when absent. */
  readonly refusal?: (owner: LockOwner) => GoondanError;
}

/** Takes the lock. **Errors** — `E_LOCKED`, naming the owner, while the owner is alive. */
export async function acquireLock(seeker: LockSeeker, path: string): Promise<Lock> {
  const { fs, processes, holder, about } = seeker;
  const abandoned = new Map<string, Uint8Array>();
  let found = refuseOwned(seeker, await readNewest(seeker, path));
  let { epoch } = found;
  for (;;) {
    epoch += 1;
    const claim = `${path}.${epoch}`;
    const previous = found.owner ?? undefined;
    const mine = { epoch, owner: { ...processes.self(), holder, ...(about && { about: about(previous) }) } };
    if (!(await fs.createNew(claim, encodeLock(mine)))) {
      const other = await fs.read(claim);
      if (other) {
        // This rejects if the process that made the claim is alive. If that process is dead, its epoch is skipped and
        // the next epoch is tried.
        refuseOwned(seeker, decodeLock(other) ?? none);
        abandoned.set(claim, other);
        continue;
      }
      // The claim was renamed or withdrawn meanwhile. Its process may claim the same epoch again, so it is not skipped.
      found = refuseOwned(seeker, await readNewest(seeker, path));
      ({ epoch } = found);
      continue;
    }
    if (await putClaimInPlace(seeker, claim, path, found.epoch)) {
      for (const [leftover, bytes] of abandoned) await removeAbandoned(fs, leftover, bytes);
      return { ...heldLock(fs, path, mine, await fs.openLock(path)), ...(previous && { previous }) };
    }
    found = refuseOwned(seeker, await readNewest(seeker, path));
    ({ epoch } = found);
  }
}

/**
 * Removes the claim of a dead process, unless another process has removed it and made its own. A claim that stays does no
 * harm, so failures are ignored.
 */
async function removeAbandoned(fs: Fs, claim: string, bytes: Uint8Array): Promise<void> {
  const found = await fs.read(claim).catch(() => undefined);
  if (found && Buffer.compare(found, bytes) === 0) await fs.remove(claim).catch(() => undefined);
}

/**
 * Renames the claim to the lock. Returns false when another process had the lock since `epoch`, because the claim then
 * names the wrong previous owner.
 */
async function putClaimInPlace(seeker: LockSeeker, claim: string, path: string, epoch: number): Promise<boolean> {
  const { fs } = seeker;
  try {
    const isUnchanged = refuseOwned(seeker, await readNewest(seeker, path)).epoch === epoch;
    await (isUnchanged ? fs.rename(claim, path) : fs.remove(claim));
    return isUnchanged;
  } catch (error) {
    // While this process is alive, its claim would reject all other processes.
    await fs.remove(claim).catch(() => undefined);
    throw error;
  }
}

function heldLock(fs: Fs, path: string, mine: LockFile, held: HeldFile): Lock {
  const text = encodeLock(mine);
  let isOpen = true;
  const letGo = () => {
    if (isOpen) held.close();
    isOpen = false;
  };
  return {
    epoch: mine.epoch,
    isHeld: () => isOpen && !held.isReplaced(),
    async release(isRecorded = false) {
      const found = await fs.read(path);
      // Another process has the lock, or the folder with the lock file was moved away.
      if (!found || Buffer.compare(found, text) !== 0) return letGo();
      if (isRecorded) {
        await fs.remove(path);
        return letGo();
      }
      // The released lock keeps its epoch, because the epoch of the next owner must be higher. No claim has the name of
      // this draft, and only a killed owner leaves it.
      const draft = nextOf(path);
      await fs.remove(draft);
      if (!(await fs.createNew(draft, encodeLock({ ...mine, owner: null })))) throw new Error(`${draft} is in use`);
      await fs.rename(draft, path);
      letGo();
    },
  };
}

/** Reads the newest epoch and its owner. The file is read first: an owner records its epoch before it removes the file. */
async function readNewest({ fs, recordedEpoch }: LockSeeker, path: string): Promise<LockFile> {
  const { epoch, owner } = await readLock(fs, path);
  return { epoch: Math.max(epoch, (await recordedEpoch?.()) ?? 0), owner };
}

function refuseOwned(seeker: LockSeeker, found: LockFile): LockFile {
  if (!found.owner || found.owner.holder === seeker.holder || !seeker.processes.isAlive(found.owner)) return found;
  const { what, refusal = ({ pid }) => new GoondanError('E_LOCKED', `${what} is in use by process ${pid}`) } = seeker;
  throw refusal(found.owner);
}

const none: LockFile = { epoch: 0, owner: null };

function encodeLock(lock: LockFile): Uint8Array {
  return Buffer.from(JSON.stringify(lock));
}

/**
 * Reads the lock file. An unreadable file counts as a lock without an owner: only a power loss leaves such a file, so
 * its writer is dead.
 */
export async function readLock(fs: Fs, path: string): Promise<LockFile> {
  const bytes = await fs.read(path);
  return (bytes && decodeLock(bytes)) ?? none;
}

/**
 * Returns true if no owner after this epoch can have taken the lock. The name of the lock file must be durable before an
 * owner writes anything else: then a missing file was removed, and a torn file had an owner.
 */
export async function isLastEpoch(fs: Fs, path: string, epoch: number): Promise<boolean> {
  const bytes = await fs.read(path);
  if (!bytes) return true;
  const lock = decodeLock(bytes);
  return lock !== undefined && lock.epoch <= epoch;
}

function decodeLock(bytes: Uint8Array): LockFile | undefined {
  try {
    const parsed: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isLockFile(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function isLockFile(value: unknown): value is LockFile {
  if (!value || typeof value !== 'object' || !('epoch' in value) || !('owner' in value)) return false;
  const { epoch, owner } = value;
  if (typeof epoch !== 'number') return false;
  if (owner === null) return true;
  return (
    typeof owner === 'object' && owner !== undefined && 'pid' in owner && 'startedAt' in owner && 'holder' in owner
  );
}
