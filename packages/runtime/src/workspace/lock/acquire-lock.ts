/**
 * One writer at a time, by a file that names its owner: process id, start of that process, epoch.
 *
 * How two processes cannot both get it: the owner of epoch n+1 is whoever creates `<lock>.<n+1>` (only one can) and then
 * still finds the lock ownerless, at epoch n; it renames its file over the lock. While that file exists nobody
 * else gets past n+1, and once it is renamed the lock has an owner. Nothing is synced: after a loss of power no owner
 * lives.
 */
import { GoondanError, type JsonValue } from '@goondan/types';
import type { Fs } from '../../ports/fs.ts';
import type { ProcessIdentity, Processes } from '../../ports/processes.ts';

export interface Lock {
  /** Greater than that of every earlier owner. */
  readonly epoch: number;
  /** The owner before, when it died without giving the lock back. */
  readonly previous?: LockOwner;
  /** Reads the file: false once somebody else took over. */
  isHeld(): Promise<boolean>;
  release(): Promise<void>;
}

interface LockFile {
  readonly epoch: number;
  /** `null` once it was released. */
  readonly owner: LockOwner | null;
}

export interface LockOwner extends ProcessIdentity {
  readonly holder: string;
  /** What it says about itself. */
  readonly about?: JsonValue;
}

/** Who wants the lock. */
export interface LockSeeker {
  readonly fs: Fs;
  readonly processes: Processes;
  /** Tells apart who in this process asks; a lock of this same name is one that an earlier attempt failed to finish. */
  readonly holder: string;
  /** The locked thing, in messages. */
  readonly what: string;
  /** What the owner says about itself, for whoever it refuses and whoever takes over from it. `before`: who died with it. */
  readonly about?: (before: LockOwner | undefined) => JsonValue;
  /** The error for whoever is refused; `E_LOCKED` when absent. */
  readonly refusal?: (owner: LockOwner) => GoondanError;
}

/** **Errors** — `E_LOCKED`, naming the owner, while that process lives. */
export async function acquireLock(seeker: LockSeeker, path: string): Promise<Lock> {
  const { fs } = seeker;
  const abandoned: string[] = [];
  let found = await readUnowned(seeker, path);
  let { epoch } = found;
  for (;;) {
    epoch += 1;
    const claim = `${path}.${epoch}`;
    const previous = found.owner ?? undefined;
    const mine = { epoch, owner: newOwner(seeker, previous) };
    if (!(await fs.createNew(claim, encodeLock(mine)))) {
      // Its maker died before it could rename it, or this refuses: the claim of that epoch is lost, the next is free.
      await readUnowned(seeker, claim);
      abandoned.push(claim);
      continue;
    }
    if (await putClaimInPlace(fs, claim, path, found.epoch)) {
      // Nothing is lost with one that stays: its maker is dead.
      for (const leftover of abandoned) await fs.remove(leftover).catch(() => undefined);
      return { ...heldLock(fs, path, mine), ...(previous && { previous }) };
    }
    found = await readUnowned(seeker, path);
    ({ epoch } = found);
  }
}

/** False when somebody had the lock since it was at `epoch`: then what the claim says about the owner before is wrong. */
async function putClaimInPlace(fs: Fs, claim: string, path: string, epoch: number): Promise<boolean> {
  try {
    const isUnchanged = (await readLock(fs, path)).epoch === epoch;
    await (isUnchanged ? fs.rename(claim, path) : fs.remove(claim));
    return isUnchanged;
  } catch (error) {
    // As long as this process lives its claim keeps all others away.
    await fs.remove(claim).catch(() => undefined);
    throw error;
  }
}

/** Who has the lock and lives. */
export async function readLockOwner(
  { fs, processes }: Pick<LockSeeker, 'fs' | 'processes'>,
  path: string,
): Promise<LockOwner | undefined> {
  const { owner } = await readLock(fs, path);
  return owner && processes.isAlive(owner) ? owner : undefined;
}

function newOwner({ processes, holder, about }: LockSeeker, before: LockOwner | undefined): LockOwner {
  return { ...processes.self(), holder, ...(about && { about: about(before) }) };
}

function heldLock(fs: Fs, path: string, mine: LockFile): Lock {
  const text = encodeLock(mine);
  const isHeld = async () => {
    const found = await fs.read(path);
    return found !== undefined && Buffer.compare(found, text) === 0;
  };
  return {
    epoch: mine.epoch,
    isHeld,
    async release() {
      if (!(await isHeld())) return;
      // The epoch stays on record: the next owner's must be greater.
      const claim = `${path}.${mine.epoch}`;
      await fs.createNew(claim, encodeLock({ ...mine, owner: null }));
      await fs.rename(claim, path);
    },
  };
}

async function readUnowned(seeker: LockSeeker, path: string): Promise<LockFile> {
  const found = await readLock(seeker.fs, path);
  if (!found.owner || !isOwned(seeker, found)) return found;
  const { what, refusal = ({ pid }) => new GoondanError('E_LOCKED', `${what} is in use by process ${pid}`) } = seeker;
  throw refusal(found.owner);
}

function isOwned({ processes, holder }: LockSeeker, { owner }: LockFile): boolean {
  return owner !== null && owner.holder !== holder && processes.isAlive(owner);
}

function encodeLock(lock: LockFile): Uint8Array {
  return Buffer.from(JSON.stringify(lock));
}

/** A lock file that makes no sense was torn by a loss of power: whoever wrote it is gone. */
async function readLock(fs: Fs, path: string): Promise<LockFile> {
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
