/** Undoes a committed changeset: restores the old files, and puts the new ones back if the swarm refuses the old. */
import { GoondanError } from '@goondan/types';
import type { ChangesetRecord } from './changeset-record.ts';
import type { ChangesetStore } from './changeset-store.ts';
import {
  beginUndo,
  describeReason,
  finishChangesets,
  finishCommit,
  noteLeftAlone,
  recordOutcome,
  repairAfter,
  withNote,
} from './finish-changesets.ts';
import { ForeignEdit, moveAllFiles, moveOwnFiles, removeDrafts } from './move-files.ts';
import { readRecords, writeRecord } from './record-file.ts';

/** The caller holds the lock of the bundle. `getRecord` reads the record of the changeset. */
export async function undoChangeset(
  store: ChangesetStore,
  getRecord: () => Promise<ChangesetRecord>,
  by: string | undefined,
  whileUndone: () => Promise<void>,
): Promise<ChangesetRecord> {
  const recoveries = await finishChangesets(store);
  const record = await getRecord();
  if (record.state === 'undone' && recoveries.some((recovery) => recovery.record.id === record.id)) {
    // An earlier undo was interrupted before the swarm knew of it.
    await whileUndone();
    return record;
  }
  if (record.state !== 'committed') {
    const why = record.state === 'undone' ? 'is undone already' : 'is not committed, so there is nothing to undo';
    throw new GoondanError('E_CHANGESET_STATE', `Changeset ${record.id} ${why}.`);
  }
  await refuseEditedFiles(store, record);
  const at = store.clock.now().toISOString();
  const undoing: ChangesetRecord = { ...record, state: 'undoing', undone: { at, ...(by !== undefined && { by }) } };
  try {
    await beginUndo(store, undoing);
    await moveAllFiles(store, undoing, 'before');
    await whileUndone();
  } catch (error) {
    await repairAfter(error, record.id, () => redo(store, undoing, error));
    throw error instanceof ForeignEdit ? conflict(`${error.message} The undo was taken back.`) : error;
  }
  return recordOutcome(store, { ...undoing, state: 'undone' });
}

async function refuseEditedFiles(store: ChangesetStore, record: ChangesetRecord): Promise<void> {
  for (const { path, after } of record.edits) {
    const { digest } = await store.tree.present(path);
    if (digest === after) continue;
    const later = (await readRecords(store)).find(
      ({ state, edits }) => state === 'committed' && edits.some((edit) => edit.path === path && edit.after === digest),
    );
    if (later === undefined) throw conflict(`${path} was edited since changeset ${record.id} was committed.`);
    throw conflict(
      `${path} was changed again by changeset ${later.id}.`,
      `Undo changeset ${later.id} first, with \`gdn changes undo ${later.id}\`.`,
    );
  }
}

/** Puts the new files back. The state is that of a commit meanwhile, so recovery goes on with it after a crash. */
async function redo(store: ChangesetStore, undoing: ChangesetRecord, reason: unknown): Promise<void> {
  // As after a failed commit, drafts must not keep the record from being written.
  await removeDrafts(store, undoing).catch(() => undefined);
  const note = `The undo was taken back: ${describeReason(reason)}`;
  const applying = withNote({ ...undoing, state: 'applying' }, note);
  await writeRecord(store, applying);
  const leftAlone = await moveOwnFiles(store, applying, 'after');
  await finishCommit(store, noteLeftAlone(applying, leftAlone));
}

function conflict(message: string, suggestion?: string): GoondanError {
  return new GoondanError('E_CHANGESET_CONFLICT', message, suggestion === undefined ? {} : { suggestion });
}
