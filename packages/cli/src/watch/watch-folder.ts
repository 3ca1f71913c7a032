/**
 * Reports changes below a folder. Ignores files that are not part of a bundle: `node_modules`, which can be huge, and
 * folders whose name begins with a dot.
 *
 * Invariants:
 * 1. Several changes in a short time are reported once, after a quiet moment.
 * 2. At most `MOST_FOLDERS` folders are watched; if there are more, `watchFolder` throws `E_WATCH` and watches nothing.
 * 3. If another folder takes the place of a watched folder, as with `git switch`, the new folder is watched.
 */
import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { GoondanError } from '@goondan/types';

/** How long a folder must be quiet before a change is reported, because editors write a file in several steps. */
const QUIET_MS = 150;
const MOST_FOLDERS = 2_000;

/**
 * Calls `onChange`, which must not throw, once after several changes in a short time. Calls `onLost` when the folder
 * can no longer be watched completely; nothing is reported after that. `except` is a subfolder that is not watched.
 * Returns a function that stops watching. **Errors** — `E_WATCH`.
 */
export function watchFolder(
  folder: string,
  onChange: () => void,
  onLost: (error: GoondanError) => void,
  except?: string,
): () => void {
  /** `identity` identifies the folder that had this path when the watch began. */
  const watched = new Map<string, { readonly watcher: FSWatcher; readonly identity: string | undefined }>();
  let quiet: ReturnType<typeof setTimeout> | undefined;

  try {
    watchBelow(folder);
  } catch (error) {
    end();
    throw cannotWatch(folder, error);
  }
  return end;

  function watchBelow(path: string): void {
    if (watched.has(path) || path === except) return;
    if (watched.size >= MOST_FOLDERS) throw new Error(`it has more than ${MOST_FOLDERS} folders`);
    const identity = identityOf(path);
    const watcher = watch(path, () => changed(path));
    // If the folder was deleted, the watcher of its parent reports that.
    watcher.on('error', () => forget(path));
    watched.set(path, { watcher, identity });
    for (const name of foldersIn(path)) watchBelow(join(path, name));
  }

  function changed(path: string): void {
    try {
      forgetReplaced(path);
      // The change may be a new subfolder.
      for (const name of foldersIn(path)) watchBelow(join(path, name));
    } catch (error) {
      end();
      return onLost(cannotWatch(folder, error));
    }
    clearTimeout(quiet);
    quiet = setTimeout(onChange, QUIET_MS);
  }

  /** Enforces invariant 3: the watcher of a deleted folder stays silent, even when a new folder gets its name. */
  function forgetReplaced(parent: string): void {
    for (const [path, { identity }] of [...watched]) {
      if (dirname(path) === parent && path !== folder && identityOf(path) !== identity) forgetBelow(path);
    }
  }

  function forgetBelow(path: string): void {
    for (const each of [...watched.keys()]) {
      if (each === path || each.startsWith(path + sep)) forget(each);
    }
  }

  function forget(path: string): void {
    watched.get(path)?.watcher.close();
    watched.delete(path);
  }

  function end(): void {
    clearTimeout(quiet);
    for (const path of [...watched.keys()]) forget(path);
  }
}

/** Returns undefined when the folder does not exist. Includes the creation time, because inode numbers are reused. */
function identityOf(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? undefined : `${stats.dev}:${stats.ino}:${stats.birthtimeMs}`;
}

function foldersIn(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.'))
      .map(({ name }) => name);
  } catch {
    // The folder no longer exists.
    return [];
  }
}

function cannotWatch(folder: string, cause: unknown): GoondanError {
  const problem = cause instanceof Error ? cause.message : String(cause);
  return new GoondanError('E_WATCH', `The folder "${folder}" cannot be watched: ${problem}.`, { cause });
}
