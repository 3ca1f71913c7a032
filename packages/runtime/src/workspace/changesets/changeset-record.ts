/** A changeset as stored on disk: the edits that an agent wants to make to its bundle, and their fate. */
import type { ChangesetSummary } from '@goondan/types';

export interface ChangesetRecord {
  readonly id: string;
  /** The real path of the bundle. */
  readonly bundleFolder: string;
  readonly swarm: string;
  readonly agent: string;
  readonly instanceKey: string;
  readonly openedAt: string;
  /** The time after which an open changeset is deleted. */
  readonly expiresAt: string;
  /**
   * `open`: the bundle does not have the edits. `applying`: the files are being replaced; recovery finishes this. `reverting`:
   * the old files are being restored; recovery finishes this. `committed`: the bundle has the edits. `undoing`: as
   * `reverting`, for `gdn changes undo`. `undone`: a person took the edits back.
   */
  readonly state: 'open' | 'applying' | 'reverting' | 'committed' | 'undoing' | 'undone';
  /** The edits by path, sorted. Their contents are files of their own, named by their SHA-256. */
  readonly edits: readonly RecordedEdit[];
  /**
   * The files of the bundle that the changeset read and has not written since, with their SHA-256 at the last read; `null`
   * if there was no file. At most 200.
   */
  readonly reads?: readonly { readonly path: string; readonly digest: string | null }[];
  /** Present from the moment at which the files are replaced. */
  readonly replaced?: ReplacedFiles;
  /** Present from the moment at which the files are replaced. */
  readonly commit?: ChangesetCommit;
  readonly undone?: { readonly at: string; readonly by?: string };
  /** Notes for people, oldest first: commits that were denied, rejected or put back, with the reason; files that were left alone. */
  readonly notes?: readonly string[];
}

export interface RecordedEdit {
  /** Relative to the bundle's folder, with `/`. */
  readonly path: string;
  /** SHA-256 of the file in the bundle that the edit is based on: as it was read before the write; `null` if there was no file. */
  readonly before: string | null;
  /** SHA-256 of the new content; `null` if the file is deleted. */
  readonly after: string | null;
}

/** The parts of the bundle that are not contents, as they were before the commit. */
export interface ReplacedFiles {
  /** The permission bits of each file that existed. */
  readonly modes: readonly { readonly path: string; readonly mode: number }[];
  /** The folders that did not exist, parents first. */
  readonly newFolders: readonly string[];
}

export interface ChangesetCommit {
  readonly at: string;
  /** SHA-256 of the edits, as it was approved. */
  readonly digest: string;
  /** The person who approved the changeset; absent if the policy asks nobody. */
  readonly by?: string;
  /** The door through which their answer came. */
  readonly via?: string;
  readonly baseRef: string;
  readonly newRef: string;
  readonly summary: ChangesetSummary;
  /** Names of the Tool resources that the changeset added. Later changesets may change the code of these tools. */
  readonly addedTools: readonly string[];
}

/** An edit with its contents, read once, so that later writes do not change it. */
export interface FileEdit extends RecordedEdit {
  readonly content: Uint8Array | null;
}
