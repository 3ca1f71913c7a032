/** The decisions about a changeset that need no disk and no process. */
import type { ChangesetCommitResult, JsonObject } from '@goondan/types';
import { planReconcile } from '../../config/plan-reconcile.ts';
import type { ExaminationRequest } from '../../config/examination.ts';
import type { SwarmPlan } from '../../config/swarm-plan.ts';
import type { ChangesetToApprove, FileChange } from '../../ipc/changeset-answers.ts';
import { sha256 } from '../../json/sha256.ts';
import type { ChangesetCommit, ChangesetRecord, RecordedEdit } from '../../workspace/changesets/changeset-record.ts';
import type { ComparedFile } from '../../workspace/changesets/changesets.ts';
import { LONGEST_ARGUMENTS } from '../questions/asked-question.ts';
import { Rejection } from './rejection.ts';

/**
 * Returns the outcome of a changeset that is not open: that of its commit, also if the commit is asked for again. Throws a
 * `Rejection` if the changeset was undone or is in the middle of a commit.
 */
export function endOf({ id: changesetId, state, commit }: ChangesetRecord): ChangesetCommitResult | undefined {
  if (state === 'open') return undefined;
  if (state === 'committed' && commit !== undefined) {
    const { baseRef, newRef, summary } = commit;
    return { status: 'ok', changesetId, baseRef, newRef, summary };
  }
  if (state === 'undone') throw new Rejection('conflict', 'A person has undone this changeset. Open another one.');
  throw new Rejection('conflict', 'The files of this changeset are being replaced right now. Commit it again later.');
}

/** Returns what earlier changesets added to the bundle, with files as the last commit left them. Undone ones do not count. */
export function addedEarlier(
  records: readonly ChangesetRecord[],
): Pick<ExaminationRequest, 'addedTools' | 'addedFiles'> {
  const commits = records
    .flatMap(({ state, commit, edits }) =>
      state === 'committed' && commit !== undefined ? [{ ...commit, edits }] : [],
    )
    .toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at));
  const digests = new Map<string, string>();
  for (const { path, before, after } of commits.flatMap(({ edits }) => edits)) {
    // A file that a person wrote, or edited, stays theirs, also after an agent has edited it.
    const isOwn = before === null || digests.get(path) === before;
    if (isOwn && after !== null) digests.set(path, after);
    else digests.delete(path);
  }
  return {
    addedTools: [...new Set(commits.flatMap(({ addedTools }) => addedTools))].toSorted(),
    addedFiles: [...digests].map(([path, digest]) => ({ path, digest })).toSorted(comparePaths),
  };
}

function comparePaths(one: { readonly path: string }, other: { readonly path: string }): number {
  return one.path < other.path ? -1 : 1;
}

/** Throws a `Rejection` if the bundle was edited and not reloaded. */
export function checkPresent(inForce: SwarmPlan, present: SwarmPlan): void {
  const { changed, added, removed } = planReconcile(inForce, present);
  const parts = [...changed, ...added, ...removed];
  if (parts.length === 0) return;
  throw new Rejection(
    'conflict',
    `The bundle was edited, and the running swarm does not have these edits yet: ${parts.join(', ')}. A person must run \`gdn reload\` first.`,
  );
}

/** Throws a `Rejection` if the texts for the diff are not the texts of the edits, because the changeset was written to. */
export function checkCompared(edits: readonly RecordedEdit[], files: readonly ComparedFile[]): void {
  const digestOf = (text: string | null) => (text === null ? null : sha256(text));
  const isSame = ({ path, before, after }: RecordedEdit) => {
    const file = files.find((each) => each.path === path);
    return file?.old !== undefined && digestOf(file.old) === before && digestOf(file.new) === after;
  };
  if (files.length === edits.length && edits.every(isSame)) return;
  throw new Rejection('conflict', 'The changeset or a file of the bundle was written to meanwhile. Commit it again.');
}

/** Throws a `Rejection` if the diffs of these files are too long for a person. */
export function checkReadable(files: readonly FileChange[]): void {
  const sizes = files.map((file) => ({ path: file.path, size: Buffer.byteLength(JSON.stringify(file)) }));
  const size = sizes.reduce((sum, each) => sum + each.size, ROOM_FOR_IDS);
  if (size <= LONGEST_ARGUMENTS) return;
  throw new Rejection(
    'invalid_files',
    `The diff has at least ${size} bytes, and a person can judge at most ${LONGEST_ARGUMENTS}. Split the change into several changesets.`,
    sizes
      .toSorted((one, other) => other.size - one.size)
      .map((each) => `${each.path} has a diff of ${each.size} bytes.`),
  );
}

/** The size of a question without its files, and a comma for each of them. */
const ROOM_FOR_IDS = 1_000;

/** Finds the approval `id` of a question about exactly `args`. */
export type FindApproval = (id: string, args: JsonObject) => Approval | undefined;

/** The person who approved a changeset, and the door of their answer. */
export type Approval = Pick<ChangesetCommit, 'by' | 'via'>;

export interface WantedCommit {
  /** The digest that was reviewed. */
  readonly digest: string;
  readonly approvalId?: string;
}

/**
 * Decides whether a changeset may be committed as it is now. Returns the person who approved it, if one was asked. Throws a
 * `Rejection` if the edits are not the reviewed ones, or the approval of a person is missing.
 */
export function checkCommit(
  { digest, approvalId }: WantedCommit,
  toApprove: ChangesetToApprove,
  needsApproval: boolean,
  find: FindApproval,
): Approval {
  if (toApprove.digest !== digest) {
    throw new Rejection('conflict', 'The changeset was changed after its review. Commit it again.');
  }
  if (!needsApproval) return {};
  // Safe: the arguments are JSON.
  const approval = approvalId === undefined ? undefined : find(approvalId, toApprove as unknown as JsonObject);
  if (approval !== undefined) return approval;
  throw new Rejection('policy_violation', 'No person has approved exactly this change in this conversation.');
}
