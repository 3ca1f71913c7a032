/** `--watch`: a swarm that follows the files of its bundle. */
import type { PlanReconcile } from '@goondan/runtime/bundle';
import { GoondanError } from '@goondan/types';
import { watchFolder } from './watch-folder.ts';

export interface BundleWatch {
  readonly folder: string;
  /** The folder of conversations: files written there are not changes of the bundle. */
  readonly stateRoot: string;
  /** Applies the current bundle. */
  readonly reload: () => Promise<PlanReconcile>;
  /** A part of the swarm changed. */
  readonly onReloaded: (changes: PlanReconcile) => void;
  /** The reload was refused for this reason; nothing changed. */
  readonly onRefused: (error: unknown) => void;
  /** The refused change was undone in the files; nothing changed. */
  readonly onTakenBack: () => void;
}

/** Returns a function that ends it. **Errors** — `E_WATCH`. */
export function watchBundle(bundle: BundleWatch): () => void {
  const { folder, stateRoot, reload, onReloaded, onRefused, onTakenBack } = bundle;
  let isRefused = false;
  let isReloading = false;
  let isStale = false;
  return watchFolder(folder, { onChange: () => void follow(), onLost: onRefused, except: stateRoot });

  /** Reloads one at a time; changes during a reload lead to one more. */
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
      // The end of the swarm is reported elsewhere.
      if (GoondanError.is(error) && error.code === 'E_SWARM_STOPPED') return;
      isRefused = true;
      onRefused(error);
    }
  }
}
