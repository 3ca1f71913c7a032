import type { ChangesetCommitResult } from '@goondan/types';

type Rejected = Extract<ChangesetCommitResult, { readonly status: 'rejected' }>;

/** Ends the walk of a changeset that is not permitted, invalid or out of date. Nothing has changed. */
export class Rejection extends Error {
  constructor(
    readonly reason: Rejected['reason'],
    message: string,
    readonly violations?: readonly string[],
  ) {
    super(message);
  }
}
