/** A changeset for people, as `gdn changes --json` and Studio get it. Fields may be added, but are never renamed. */
import type { ChangesetRecord, FileChange } from '@goondan/runtime/internal';

export interface ChangesetView {
  readonly id: string;
  readonly state: ChangesetRecord['state'];
  readonly swarm: string;
  readonly agent: string;
  readonly instanceKey: string;
  readonly openedAt: string;
  /** The time after which the changeset is deleted; only while it is open. */
  readonly expiresAt?: string;
  readonly committedAt?: string;
  /** The person who approved it; absent if the policy asks nobody, and before the commit. */
  readonly approvedBy?: string;
  readonly approvedVia?: string;
  /** Digests of the bundle's files before and after the commit. */
  readonly baseRef?: string;
  readonly newRef?: string;
  readonly undoneAt?: string;
  readonly undoneBy?: string;
  readonly files: readonly Pick<FileChange, 'path' | 'change'>[];
  /** Notes about commits that were put back and files that were left alone, oldest first. */
  readonly notes: readonly string[];
}

export interface ChangesetWithDiff extends ChangesetView {
  readonly files: readonly FileChange[];
}

export function viewChangeset(record: ChangesetRecord): ChangesetView {
  const { id, state, swarm, agent, instanceKey, openedAt, expiresAt, edits, commit, undone, notes = [] } = record;
  // A commit that was put back is mentioned in the notes only.
  const made = state === 'open' ? undefined : commit;
  return {
    id,
    state,
    swarm,
    agent,
    instanceKey,
    openedAt,
    ...(state === 'open' && { expiresAt }),
    ...(made && { committedAt: made.at, baseRef: made.baseRef, newRef: made.newRef }),
    ...(made?.by !== undefined && { approvedBy: made.by }),
    ...(made?.via !== undefined && { approvedVia: made.via }),
    ...(undone && { undoneAt: undone.at }),
    ...(undone?.by !== undefined && { undoneBy: undone.by }),
    files: edits.map(({ path, before, after }) => ({
      path,
      change: before === null ? 'added' : after === null ? 'deleted' : 'changed',
    })),
    notes,
  };
}
