/** Checks an open changeset before any of its code runs: its files, the changed bundle, and the plan in force. */
import { checkSwarmPlan } from '../../config/check-swarm-plan.ts';
import type { Candidate, Examine } from '../../config/examination.ts';
import type { ChangesetToApprove, FileChange } from '../../ipc/changeset-answers.ts';
import type { FileEdit } from '../../workspace/changesets/changeset-record.ts';
import type { Changesets } from '../../workspace/changesets/changesets.ts';
import { describeFiles } from '../../workspace/changesets/describe-files.ts';
import type { CurrentPlan } from '../plan/current-plan.ts';
import { addedEarlier, checkCompared, checkPresent, checkReadable } from './decide-commit.ts';
import { Rejection } from './rejection.ts';

/** The bundle of a swarm that was started from a folder. */
export interface ChangesetSource {
  readonly store: Changesets;
  readonly examine: Examine;
  /**
   * Gives the changed files to all nodes, and then runs `apply`. Resolves with `undefined` if the other nodes run another
   * bundle than the one that was changed. Absent on a swarm with one node.
   */
  readonly deploy?: <Value>(by: string, apply: () => Promise<Value>) => Promise<Value | undefined>;
}

export interface ExaminedChangeset {
  readonly edits: readonly FileEdit[];
  readonly candidate: Candidate;
  /** True if the plan in force asks for the approval of a person. */
  readonly needsApproval: boolean;
  readonly toApprove: ChangesetToApprove;
}

/** Returns a changeset that is valid and permitted, except for an approval that it may need. **Errors** — `Rejection`. */
export async function examineChangeset(
  { store, examine }: ChangesetSource,
  currentPlan: Pick<CurrentPlan, 'value'>,
  changesetId: string,
  trialFolder: string,
): Promise<ExaminedChangeset> {
  const { plan, settings } = currentPlan.value;
  const { edits, digest } = await store.edits(changesetId);
  if (edits.length === 0) throw new Rejection('invalid_files', 'The changeset has no edits. Write a file first.');
  await checkConflicts(store, edits);
  const { allow, approve: needsApproval } = settings.changes;
  const examination = await examine({ edits, trialFolder, allow, ...addedEarlier(await store.list()) });
  if (examination.status === 'rejected') {
    throw new Rejection(examination.reason, examination.message, examination.violations);
  }
  const { candidate } = examination;
  checkPresent(plan, checkSwarmPlan(candidate.present));
  const files = needsApproval ? await describeEdits(store, changesetId, edits) : [];
  return { edits, candidate, needsApproval, toApprove: { changesetId, digest, files } };
}

/** Returns the diffs, file by file, so that the orchestrator is not blocked and stops when they are too long. */
async function describeEdits(
  store: Changesets,
  changesetId: string,
  edits: readonly FileEdit[],
): Promise<FileChange[]> {
  const compared = await store.compare(changesetId);
  checkCompared(edits, compared);
  const files: FileChange[] = [];
  for (const file of compared) {
    files.push(...(await describeFiles([file])));
    checkReadable(files);
    await new Promise<void>((resolve) => void setImmediate(resolve));
  }
  return files;
}

async function checkConflicts(store: Changesets, edits: readonly FileEdit[]): Promise<void> {
  const paths = await store.conflicts(edits);
  if (paths.length === 0) return;
  throw new Rejection(
    'conflict',
    'Files of the bundle were edited since the changeset read them. Read these files again, then write and commit them again.',
    paths.map((path) => `${path} was edited.`),
  );
}
