/** Commits a changeset: stores old and new contents, replaces the files, and puts the old ones back if that fails. */
import { type ChangesetSummary, GoondanError } from '@goondan/types';
import type { ChangesetCommit, ChangesetRecord, FileEdit, RecordedEdit, ReplacedFiles } from './changeset-record.ts';
import type { ChangesetStore } from './changeset-store.ts';
import { storeContent } from './contents.ts';
import { digestEdits } from './digest-edits.ts';
import {
  beginRevert,
  describeReason,
  finishChangesets,
  recordOutcome,
  repairAfter,
  revert,
} from './finish-changesets.ts';
import { ForeignEdit, moveAllFiles, removeDrafts } from './move-files.ts';
import { writeRecord } from './record-file.ts';

export interface Application {
  readonly edits: readonly FileEdit[];
  readonly commit: Omit<ChangesetCommit, 'at' | 'summary'>;
  readonly whileApplied: () => Promise<void>;
}

/** The caller holds the lock of the bundle. `getRecord` reads the record of the changeset. */
export async function applyChangeset(
  store: ChangesetStore,
  getRecord: () => Promise<ChangesetRecord>,
  { edits, commit, whileApplied }: Application,
): Promise<ChangesetRecord> {
  const recoveries = await finishChangesets(store);
  const record = await getRecord();
  if (record.state === 'committed' && record.commit?.digest === commit.digest) return record;
  const [recovery] = recoveries;
  if (recovery !== undefined) {
    throw conflict(
      `Changeset ${recovery.record.id} had been interrupted and was finished first, so the bundle may differ.`,
    );
  }
  refuseOtherEdits(record, edits, commit.digest);
  const replaced = await keepOldFiles(store, record, edits);
  const at = store.clock.now().toISOString();
  const { reads: _, ...rest } = record;
  const applying: ChangesetRecord = {
    ...rest,
    state: 'applying',
    replaced,
    commit: { ...commit, at, summary: summarise(edits) },
  };
  try {
    await writeRecord(store, applying);
    await moveAllFiles(store, applying, 'after');
    await whileApplied();
  } catch (error) {
    await repairAfter(error, record.id, () => putBack(store, applying, error));
    throw error instanceof ForeignEdit ? conflict(`${error.message} The commit was taken back.`, error) : error;
  }
  return recordOutcome(store, { ...applying, state: 'committed' });
}

function refuseOtherEdits(record: ChangesetRecord, edits: readonly FileEdit[], digest: string): void {
  if (record.state !== 'open') {
    throw new GoondanError(
      'E_CHANGESET_STATE',
      `Changeset ${record.id} is ${record.state}, so it cannot be committed.`,
    );
  }
  if (digestEdits(edits) !== digest || digestEdits(record.edits) !== digest) {
    throw conflict(`Changeset ${record.id} was changed after it was checked.`);
  }
  if (edits.length === 0) throw conflict(`Changeset ${record.id} changes no file.`);
}

/** Stores the old and the new contents. **Errors** — `E_CHANGESET_CONFLICT` if a file is not as the changeset read it. */
async function keepOldFiles(
  store: ChangesetStore,
  { id }: ChangesetRecord,
  edits: readonly FileEdit[],
): Promise<ReplacedFiles> {
  const modes: { path: string; mode: number }[] = [];
  const newFolders: string[] = [];
  for (const { path, before, content } of edits) {
    const problem = store.tree.findProblem(path);
    if (problem !== undefined) throw new GoondanError('E_CHANGESET_FILE', `${path} ${problem}.`);
    const { digest, bytes, mode } = await store.tree.present(path);
    if (digest !== before)
      throw conflict(`${path} was edited since the changeset read it. Read it again, then write and commit it again.`);
    if (bytes !== undefined) await storeContent(store, id, bytes);
    if (content !== null) await storeContent(store, id, content);
    if (mode !== undefined) modes.push({ path, mode });
    for (const folder of await store.tree.missingFolders(path)) {
      if (!newFolders.includes(folder)) newFolders.push(folder);
    }
  }
  return { modes, newFolders };
}

async function putBack(store: ChangesetStore, applying: ChangesetRecord, reason: unknown): Promise<void> {
  // Drafts are removed first, because they may fill the disk, and then the record could not be written.
  await removeDrafts(store, applying).catch(() => undefined);
  await revert(store, await beginRevert(store, applying, `The commit was taken back: ${describeReason(reason)}`));
}

export function summarise(edits: readonly RecordedEdit[]): ChangesetSummary {
  const paths = (change: FileChangeKind) => edits.filter((edit) => changeOf(edit) === change).map(({ path }) => path);
  return { filesChanged: paths('changed'), filesAdded: paths('added'), filesDeleted: paths('deleted') };
}

type FileChangeKind = 'added' | 'changed' | 'deleted';

export function changeOf({ before, after }: RecordedEdit): FileChangeKind {
  if (before === null) return 'added';
  return after === null ? 'deleted' : 'changed';
}

function conflict(message: string, cause?: unknown): GoondanError {
  return new GoondanError('E_CHANGESET_CONFLICT', message, { cause });
}
