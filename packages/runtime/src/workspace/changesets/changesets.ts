/**
 * The changesets of one bundle, on disk under the state root. Opened with `openChangesets`.
 *
 * Invariants: 1. The files of the bundle change only in `apply`, `undo` and `recover`, and only under the lock of the
 * bundle. 2. After a crash at any moment, `recover` leaves all old or all new files, and the record says which.
 * 3. A file that somebody else edited is never overwritten. 4. No operation follows a link inside the bundle.
 */
import type { BundleFs } from '../../ports/bundle-fs.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Flock } from '../../ports/flock.ts';
import type { Ids } from '../../ports/ids.ts';
import type { StoreWarning } from '../store-ports.ts';
import type { ChangesetCommit, ChangesetRecord, FileEdit } from './changeset-record.ts';
import type { TakeLock } from './lock-bundle.ts';

/** The argument of `openChangesets(place): Changesets`, which touches no file. */
export interface ChangesetsPlace {
  readonly stateRoot: string;
  /** The folder of the bundle; links on the way to it are resolved. */
  readonly bundleFolder: string;
  /** The system's clock when absent. */
  readonly clock?: Clock;
  /** Random ids when absent. */
  readonly ids?: Ids;
  /** False on a file system without `flock`; then two processes can replace files of the bundle at once. */
  readonly flock?: Flock | false;
  /** The disk; the system's when absent. With another disk, `bundleFolder` must be a real path. */
  readonly fs?: BundleFs;
  /** Takes the place of `flock`, for tests. */
  readonly takeLock?: TakeLock;
  /** Receives a warning about each damaged record; must not throw. */
  readonly warn?: (warning: StoreWarning) => void;
}

/** The conversation that a changeset belongs to. */
export type ChangesetOwner = Pick<ChangesetRecord, 'swarm' | 'agent' | 'instanceKey'>;

/** The edits of a changeset, read once, sorted by path. */
export interface ChangesetEdits {
  readonly edits: readonly FileEdit[];
  /** SHA-256 of paths, old and new digests. Equal edits of the same files have the same digest. */
  readonly digest: string;
}

/** One file of a changeset before and after the change, for a diff. */
export interface ComparedFile {
  readonly path: string;
  readonly change: 'added' | 'changed' | 'deleted';
  /** `null` if there was no file; absent if the old content is no longer known, because the file was edited meanwhile. */
  readonly old?: string | null;
  /** `null` if the changeset deletes the file. */
  readonly new: string | null;
}

/** An interrupted commit, revert or undo that `recover` finished. */
export interface ChangesetRecovery {
  readonly record: ChangesetRecord;
  /** `committed`: the bundle has all new files. `open`, `undone`: it has the old ones. */
  readonly outcome: 'committed' | 'open' | 'undone';
  /** Files that somebody edited meanwhile, and that were left as they are. */
  readonly leftAlone: readonly string[];
}

/**
 * **Errors** of every method — `E_STORE_READ`, `E_STORE_WRITE`, `E_DISK_FULL`, `E_STORE_CORRUPT`. A method that takes an id
 * throws `E_CHANGESET_UNKNOWN` if there is no such changeset or it expired.
 */
export interface Changesets {
  /** The real path of the bundle. */
  readonly bundleFolder: string;

  /**
   * Opens a changeset without edits. If the conversation or the bundle has too many open ones, the oldest of the
   * conversation is deleted and passed to `onDeleted`. **Errors** — `E_CHANGESET_LIMIT` when the bundle has too many and the
   * conversation has none.
   */
  open(owner: ChangesetOwner, onDeleted?: (record: ChangesetRecord) => void): Promise<ChangesetRecord>;
  /** Adds a note for people to an open changeset, unless its last note says so already. */
  note(id: string, text: string): Promise<void>;
  /** Deletes an open changeset and returns its last record. **Errors** — `E_CHANGESET_STATE`, `E_CHANGESET_BUSY`. */
  discard(id: string): Promise<ChangesetRecord>;
  /** Returns the record, or `undefined` if there is none or it expired. */
  find(id: string): Promise<ChangesetRecord | undefined>;
  /** Returns the record. **Errors** — `E_CHANGESET_UNKNOWN`, also if the changeset belongs to another conversation. */
  get(id: string, owner?: ChangesetOwner): Promise<ChangesetRecord>;
  /** Returns all records, newest first. Damaged ones are put aside with a warning. */
  list(): Promise<readonly ChangesetRecord[]>;

  /** Returns the paths of the files that a changeset may read, sorted; at most 2,000. */
  files(): Promise<readonly string[]>;
  /**
   * Returns the text of a file with the edits of the changeset; `null` if the changeset deletes it. If somebody edited the
   * file of the bundle after the changeset did, returns the text of the bundle instead; `null` if it is gone. A later
   * `write` of this file is based on the text that was read. **Errors** — `E_CHANGESET_FILE`, `E_CHANGESET_LIMIT`.
   */
  read(id: string, path: string): Promise<string | null>;
  /**
   * Puts an edit into the changeset; `null` deletes the file. An edit that changes nothing is dropped. **Errors** —
   * `E_CHANGESET_FILE`, `E_CHANGESET_LIMIT`; `E_CHANGESET_STATE` if the changeset is no longer open.
   */
  write(id: string, path: string, content: string | null): Promise<void>;
  edits(id: string): Promise<ChangesetEdits>;
  /** Returns the paths whose file in the bundle is not the one that the edit is based on. */
  conflicts(edits: readonly FileEdit[]): Promise<readonly string[]>;
  /** Returns the old and the new text of each file, in any state of the changeset. */
  compare(id: string): Promise<readonly ComparedFile[]>;

  /**
   * Replaces the files and awaits `whileApplied`; then the changeset is committed. If `whileApplied` rejects, the old
   * files are put back, the changeset is open again with a note, and the error is thrown again. A changeset that is
   * committed already is returned as it is.
   *
   * **Errors** — `E_CHANGESET_CONFLICT` if a file of the bundle, or the changeset itself, was changed meanwhile;
   * `E_CHANGESET_BUSY` if another process keeps the lock.
   */
  apply(
    id: string,
    edits: readonly FileEdit[],
    commit: Omit<ChangesetCommit, 'at' | 'summary'>,
    whileApplied: () => Promise<void>,
  ): Promise<ChangesetRecord>;
  /**
   * Restores the old files of a committed changeset and awaits `whileUndone`. If `whileUndone` rejects, the new files
   * are put back, and the error is thrown again. **Errors** — `E_CHANGESET_STATE` if the changeset is not committed,
   * `E_CHANGESET_CONFLICT`, `E_CHANGESET_BUSY`.
   */
  undo(id: string, by: string | undefined, whileUndone: () => Promise<void>): Promise<ChangesetRecord>;
  /**
   * Finishes interrupted commits and undos. Takes no lock if there is nothing to finish. `waitMs`: the time to wait for
   * the lock; 10 seconds when absent. A swarm that reloads must not wait, because `gdn changes undo` holds the lock until
   * the reload is over. **Errors** — `E_CHANGESET_BUSY` if another process keeps the lock. If files cannot be read or
   * written, nothing is lost, and the next call tries again.
   */
  recover(options?: { readonly waitMs?: number }): Promise<readonly ChangesetRecovery[]>;
  /** Deletes expired changesets, all but the last 100 ended ones, and the leftovers of crashes. */
  sweep(): Promise<void>;

  /** Makes an empty, private folder for a copy of the bundle. */
  makeTrialFolder(): Promise<TrialFolder>;
}

export interface TrialFolder {
  readonly path: string;
  /** Deletes the folder. Never rejects: a failure is a warning, and the next `sweep` tries again, as after a crash. */
  remove(): Promise<void>;
}
