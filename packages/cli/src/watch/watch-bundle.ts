/** `--watch`: a swarm that follows the files of its bundle. */
import type { PlanReconcile } from '@goondan/runtime/bundle';
import { GoondanError } from '@goondan/types';
import { watchFolder } from './watch-folder.ts';

export interface BundleWatch {
  readonly folder: string;
  /** Where conversations are kept: what is written there is no change of the bundle. */
  readonly stateRoot: string;
  /** Puts the bundle in force as it is now. */
  readonly reload: () => Promise<PlanReconcile>;
  /** Something did change. */
  readonly onReloaded: (changes: PlanReconcile) => void;
  /** Nothing was changed, and why. */
  readonly onRefused: (error: unknown) => void;
  /** What was refused was put right by taking it back: nothing did change. */
  readonly onTakenBack: () => void;
}

/** Returns what ends it. **Errors** — `E_WATCH`. */
export function watchBundle(bundle: BundleWatch): () => void {
  const { folder, stateRoot, reload, onReloaded, onRefused, onTakenBack } = bundle;
  let isRefused = false;
  let isReloading = false;
  let isStale = false;
  return watchFolder(folder, { onChange: () => void follow(), onLost: onRefused, except: stateRoot });

  /** One at a time; what changes meanwhile is read once more. */
  async function follow(): Promise<void> {
    isStale = true;
    if (isReloading) return;
    isReloading = true;
    while (isStale) {
      isStale = false;
      await reloadOnce();
    }
    isReloading = false;
  }

  async function reloadOnce(): Promise<void> {
    try {
      const changes = await reload();
      if (changes.changed.length + changes.added.length + changes.removed.length > 0) onReloaded(changes);
      else if (isRefused) onTakenBack();
      isRefused = false;
    } catch (error) {
      // The end of the swarm is told by itself.
      if (error instanceof GoondanError && error.code === 'E_SWARM_STOPPED') return;
      isRefused = true;
      onRefused(error);
    }
  }
}
