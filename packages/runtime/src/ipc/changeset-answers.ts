/** The answers to `changeset.ask`, by the kind of the request. */
import type { ChangesetCommitResult, OpenedChangeset } from '@goondan/types';

export interface ChangesetAnswers {
  readonly open: OpenedChangeset;
  readonly read: { readonly content: string | null };
  readonly write: Readonly<Record<string, never>>;
  /** The outcome is there at once if the changeset is rejected, or was committed before. */
  readonly review: { readonly review: ChangesetReview } | { readonly outcome: ChangesetCommitResult };
  readonly commit: { readonly outcome: ChangesetCommitResult };
}

/** A checked changeset that can be committed. */
export interface ChangesetReview {
  /** True if a person must approve `toApprove` before the commit. */
  readonly needsApproval: boolean;
  readonly toApprove: ChangesetToApprove;
  /** The time until the changeset expires. A question about it expires at the same moment. */
  readonly expiresInMs: number;
}

/** The arguments of a question about a changeset, for the person who decides. */
export interface ChangesetToApprove {
  readonly changesetId: string;
  /** SHA-256 of the edits. A commit of other edits is rejected. */
  readonly digest: string;
  /** Sorted by path; empty if no person is asked. */
  readonly files: readonly FileChange[];
}

export interface FileChange {
  readonly path: string;
  readonly change: 'added' | 'changed' | 'deleted';
  /** The difference in unified format, with three lines of context. */
  readonly diff: string;
}
