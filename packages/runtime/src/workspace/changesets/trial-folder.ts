/**
 * Folders for copies of the bundle, in which a changeset is tried. A copy has values of the environment in it, so it is
 * private and does not outlive its use: a lock file shows whether its process still uses it.
 */
import { makeFolders } from '../layout/make-folders.ts';
import type { ChangesetStore } from './changeset-store.ts';
import type { TrialFolder } from './changesets.ts';
import { describeReason } from './finish-changesets.ts';
import { isBusy } from './lock-bundle.ts';

const LOCK_SUFFIX = '.lock';
/** Milliseconds to wait for the lock of a new folder, which a sweep may hold for a moment. */
const LOCK_WAIT_MS = 1000;

export async function makeTrialFolder(store: ChangesetStore): Promise<TrialFolder> {
  const { fs, ids, paths } = store;
  await makeFolders(fs, store.stateRoot, paths.trials);
  const name = ids.next('trial');
  const path = paths.trial(name);
  const lock = await store.takeLock(paths.trialLock(name), LOCK_WAIT_MS);
  try {
    await fs.makeFolder(path);
  } catch (error) {
    lock.release();
    throw error;
  }
  return {
    path,
    async remove() {
      try {
        await fs.removeFolder(path);
        await fs.remove(paths.trialLock(name));
      } catch (error) {
        store.warn({ path, message: `This copy of the bundle could not be removed yet: ${describeReason(error)}` });
      } finally {
        lock.release();
      }
    },
  };
}

/** Removes the folders whose process has ended. */
export async function sweepTrials(store: ChangesetStore): Promise<void> {
  const names = (await store.fs.list(store.paths.trials)) ?? [];
  const trials = new Set(names.map((name) => (name.endsWith(LOCK_SUFFIX) ? name.slice(0, -LOCK_SUFFIX.length) : name)));
  for (const name of trials) await sweepTrial(store, name);
}

async function sweepTrial({ fs, paths, takeLock }: ChangesetStore, name: string): Promise<void> {
  try {
    const lock = await takeLock(paths.trialLock(name), 0);
    try {
      await fs.removeFolder(paths.trial(name));
      await fs.remove(paths.trialLock(name));
    } finally {
      lock.release();
    }
  } catch (error) {
    if (!isBusy(error)) throw error;
  }
}
