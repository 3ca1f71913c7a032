/**
 * Allows one writer at a time, by a lock file that names its owner: process id, start time of the process, epoch.
 *
 * Two processes cannot both get the lock. The process that wants epoch n+1 creates the claim `<lock>.<n+1>`, which only
 * one process can do, and then checks that the lock still has epoch n and no owner. Then it renames its claim to the
 * lock. While the claim exists, no other process can take epoch n+1, and after the rename the lock has an owner.
 * Nothing is synced: after a power loss no owner is alive.
 */
import { GoondanError, type JsonValue } from '@goondan/types';
import type { Fs, HeldFile } from '../../ports/fs.ts';
import type { ProcessIdentity, Processes } from '../../ports/processes.ts';

export interface Lock {
  /** The number of this ownership, which is higher than that of every earlier owner. */
  readonly epoch: number;
  /** The previous owner, if it died without releasing the lock. */
  readonly previous?: LockOwner;
  /** Returns false once another process has taken the lock, or the lock file was deleted. It reads no file. */
  isHeld(): boolean;
  release(): Promise<void>;
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
  /** The error for a rejected process; `E_LOCKED` when absent. */
  readonly refusal?: (owner: LockOwner) => GoondanError;
}

/** Takes the lock. **Errors** — `E_LOCKED`, naming the owner, while the owner is alive. */
export async function acquireLock(seeker: LockSeeker, path: string): Promise<Lock> {
  const { fs, processes, holder, about } = seeker;
  const abandoned: string[] = [];
  let found = await readUnowned(seeker, path);
  let { epoch } = found;
  for (;;) {
    epoch += 1;
    const claim = `${path}.${epoch}`;
    const previous = found.owner ?? undefined;
    const mine = { epoch, owner: { ...processes.self(), holder, ...(about && { about: about(previous) }) } };
    if (!(await fs.createNew(claim, encodeLock(mine)))) {
      // This rejects if the process that made the claim is alive. If that process is dead, its epoch is skipped and the
      // next epoch is tried.
      await readUnowned(seeker, claim);
      abandoned.push(claim);
      continue;
    }
    if (await putClaimInPlace(fs, claim, path, found.epoch)) {
      // A claim left by a dead process does no harm, so failures are ignored.
      for (const leftover of abandoned) await fs.remove(leftover).catch(() => undefined);
      return { ...heldLock(fs, path, mine, await fs.openLock(path)), ...(previous && { previous }) };
    }
    found = await readUnowned(seeker, path);
    ({ epoch } = found);
  }
}

/**
 * Renames the claim to the lock. Returns false when another process had the lock since `epoch`, because the claim then
 * names the wrong previous owner.
 */
async function putClaimInPlace(fs: Fs, claim: string, path: string, epoch: number): Promise<boolean> {
  try {
    const isUnchanged = (await readLock(fs, path)).epoch === epoch;
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
    async release() {
      const found = await fs.read(path);
      // Another process has the lock, or the folder with the lock file was moved away.
      if (!found || Buffer.compare(found, text) !== 0) return letGo();
      // The released lock keeps its epoch, because the epoch of the next owner must be higher.
      const claim = `${path}.${mine.epoch}`;
      await fs.createNew(claim, encodeLock({ ...mine, owner: null }));
      await fs.rename(claim, path);
      letGo();
    },
  };
}

async function readUnowned(seeker: LockSeeker, path: string): Promise<LockFile> {
  const found = await readLock(seeker.fs, path);
  if (!found.owner || found.owner.holder === seeker.holder || !seeker.processes.isAlive(found.owner)) return found;
  const { what, refusal = ({ pid }) => new GoondanError('E_LOCKED', `${what} is in use by process ${pid}`) } = seeker;
  throw refusal(found.owner);
}

function encodeLock(lock: LockFile): Uint8Array {
  return Buffer.from(JSON.stringify(lock));
}

/**
 * Reads the lock file. An unreadable file counts as a lock without an owner: only a power loss leaves such a file, so
 * its writer is dead.
 */
export async function readLock(fs: Fs, path: string): Promise<LockFile> {
  const none = { epoch: 0, owner: null };
  const bytes = await fs.read(path);
  if (!bytes) return none;
  try {
    const parsed: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isLockFile(parsed) ? parsed : none;
  } catch {
    return none;
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
