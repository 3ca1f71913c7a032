/** `--watch`: reloads a swarm when the files of its bundle change. */
import type { ReloadResult } from '@goondan/runtime/control';
import { GoondanError } from '@goondan/types';
import { watchFolder } from './watch-folder.ts';

export interface BundleWatch {
  readonly folder: string;
  /** The state root. Files written there do not count as changes of the bundle. */
  readonly stateRoot: string;
  /** Reloads the swarm with the current bundle. */
  readonly reload: () => Promise<ReloadResult>;
  /** Called after a reload that changed a part of the swarm. */
  readonly onReloaded: (changes: ReloadResult) => void;
  /** Called when a reload was refused; the swarm did not change. */
  readonly onRefused: (error: unknown) => void;
  /** Called when a person has reverted the refused change in the files; the swarm did not change. */
  readonly onTakenBack: () => void;
}

/** Returns a function that stops watching. **Errors** — `E_WATCH`. */
export function watchBundle(bundle: BundleWatch): () => void {
  const { folder, stateRoot, reload, onReloaded, onRefused, onTakenBack } = bundle;
  let isRefused = false;
  let isReloading = false;
  let isStale = false;
  return watchFolder(folder, () => void follow(), onRefused, stateRoot);

  /** Runs one reload at a time; changes during a reload lead to one more reload. */
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
      // Ignores this error, because the stop of the swarm is reported elsewhere.
      if (GoondanError.is(error) && error.code === 'E_SWARM_STOPPED') return;
      isRefused = true;
      onRefused(error);
    }
  }
}
