/**
 * Lets a tool propose changes of the bundle that its swarm runs from. The tool `bundle` of @goondan/base uses it. The
 * answers are type aliases, so that a tool can return them as JSON.
 */

/** An opened changeset. Its edits are kept beside the bundle until `commit` puts all of them into the bundle, or none. */
export type OpenedChangeset = {
  readonly changesetId: string;
  /** The time after which an uncommitted changeset is deleted, as an ISO string. */
  readonly expiresAt: string;
  /** Globs of the files that the policy of the swarm lets agents change, relative to the bundle's folder. */
  readonly allow: string[];
  /** The files that may be read, relative to the bundle's folder. */
  readonly files: string[];
};

/** The files of a committed changeset, relative to the bundle's folder and sorted. */
export type ChangesetSummary = {
  readonly filesChanged: string[];
  readonly filesAdded: string[];
  readonly filesDeleted: string[];
};

/**
 * The outcome of a commit. `ok`: the files are replaced, and the change is in force. `rejected`: the change is not
 * permitted, its files are invalid, or the bundle was changed meanwhile. `error`: the change could not be made. Unless
 * the outcome is `ok`, nothing has changed, and the changeset stays open.
 */
export type ChangesetCommitResult =
  | {
      readonly status: 'ok';
      readonly changesetId: string;
      /** A digest of the bundle's files before the commit. */
      readonly baseRef: string;
      /** A digest of the bundle's files after the commit. */
      readonly newRef: string;
      readonly summary: ChangesetSummary;
    }
  | {
      readonly status: 'rejected';
      readonly changesetId: string;
      readonly reason: 'policy_violation' | 'conflict' | 'invalid_files';
      readonly message: string;
      /** Each reason as one sentence, with the file it is about. */
      readonly violations?: string[];
    }
  | {
      readonly status: 'error';
      readonly changesetId: string;
      readonly error: { readonly code: string; readonly message: string };
    };

/**
 * Changes the bundle of the running swarm.
 *
 * **Rules** — `Swarm.spec.policy.changes` decides which files an agent may change; by default none. A changeset belongs to
 * the conversation that opened it.
 * **Errors** — `E_CHANGESET_UNKNOWN` (there is no such changeset, or it expired), `E_CHANGESET_FILE` (a path outside of the
 * bundle, a link, or a file that no changeset may touch), `E_CHANGESET_LIMIT`, `E_CHANGESET_STATE` (the changeset is no
 * longer open), `E_CHANGESET_POLICY` (the policy allows no file), `E_CHANGESET_SOURCE` (the swarm was not started from a
 * folder).
 */
export interface BundleApi {
  open(): Promise<OpenedChangeset>;
  /**
   * Returns the text of a file with the edits of the changeset, or `null` if the changeset deletes the file. If somebody
   * edited the file after the changeset did, returns its text in the bundle, so that the change can be made again.
   */
  read(changesetId: string, path: string): Promise<string | null>;
  /** Replaces the whole file in the changeset; `null` deletes the file. */
  write(changesetId: string, path: string, content: string | null): Promise<void>;
  /**
   * Checks the changeset, asks a person if the policy says so, tries the new parts, replaces the files and reconciles the
   * running swarm. A commit that was repeated after a crash has the outcome of the first one.
   */
  commit(changesetId: string): Promise<ChangesetCommitResult>;
}
