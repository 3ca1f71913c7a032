/**
 * Lets calls that sync the same folder together share a sync: conversations that are created together all need one of
 * their common folder.
 */
import type { Fs } from './fs.ts';
import { SharedRun } from './shared-run.ts';

export function shareFolderSyncs(fs: Fs): Fs {
  /** The folders that are being synced, each with the number of calls that wait for it. */
  const folders = new Map<string, { readonly sync: SharedRun<void>; calls: number }>();
  return {
    ...fs,
    async syncFolder(path) {
      const folder = folders.get(path) ?? { sync: new SharedRun(() => fs.syncFolder(path)), calls: 0 };
      folders.set(path, folder);
      folder.calls += 1;
      try {
        await folder.sync.run();
      } finally {
        folder.calls -= 1;
        if (folder.calls === 0) folders.delete(path);
      }
    },
  };
}
