/**
 * Brings a changeset from an unfinished state to a finished one. Commit, undo and recovery share these steps, so
 * recovery continues exactly where a crash interrupted them. The caller holds the lock of the bundle.
 */
import { GoondanError } from '@goondan/types';
import type { ChangesetRecord } from './changeset-record.ts';
import { changesetLimits, type ChangesetStore } from './changeset-store.ts';
import type { ChangesetRecovery } from './changesets.ts';
import { isCorrupt } from '../lines/corrupt-store.ts';
import { ForeignEdit, moveAllFiles, moveOwnFiles } from './move-files.ts';
import { readRecords, writeRecord } from './record-file.ts';

type Finished = Omit<ChangesetRecovery, 'outcome'>;

export function isUnfinished({ state }: ChangesetRecord): boolean {
  return state === 'applying' || state === 'reverting' || state === 'undoing';
}

/** Finishes every interrupted changeset, and throws the first error after it has tried all of them. */
export async function finishChangesets(store: ChangesetStore): Promise<readonly ChangesetRecovery[]> {
  const unfinished = (await readRecords(store)).filter(isUnfinished);
  const [first] = unfinished;
  if (first === undefined) return [];
  if (!(await store.tree.exists())) {
    throw new GoondanError(
      'E_STORE_READ',
      `Changeset ${first.id} is unfinished, but the folder of its bundle, ${store.bundleFolder}, is missing.`,
      {
        suggestion: `Put the folder back and try again. To give the changeset up, delete ${store.paths.changeset(first.id)}.`,
      },
    );
  }
  const recoveries: ChangesetRecovery[] = [];
  const failures: unknown[] = [];
  for (const record of unfinished) {
    try {
      recoveries.push(await finish(store, record));
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return recoveries;
}

async function finish(store: ChangesetStore, record: ChangesetRecord): Promise<ChangesetRecovery> {
  if (record.state === 'reverting') return { outcome: 'open', ...(await revert(store, record)) };
  if (record.state === 'undoing') return { outcome: 'undone', ...(await finishUndo(store, record)) };
  try {
    await moveAllFiles(store, record, 'after');
  } catch (error) {
    if (!(error instanceof ForeignEdit) && !isCorrupt(error)) throw error;
    // A changeset that was committed before, and was being put back after a refused undo, ends as undone.
    if (record.undone !== undefined) {
      const undoing = await beginUndo(store, record);
      return { outcome: 'undone', ...(await finishUndo(store, undoing)) };
    }
    const reverting = await beginRevert(store, record, `The commit was interrupted. ${error.message}`);
    return { outcome: 'open', ...(await revert(store, reverting)) };
  }
  return { outcome: 'committed', record: await finishCommit(store, record), leftAlone: [] };
}

/** Records that the bundle has the edits. */
export async function finishCommit(store: ChangesetStore, record: ChangesetRecord): Promise<ChangesetRecord> {
  const { undone: _, ...rest } = record;
  const committed: ChangesetRecord = { ...rest, state: 'committed' };
  await writeRecord(store, committed);
  return committed;
}

export async function beginRevert(
  store: ChangesetStore,
  record: ChangesetRecord,
  why: string,
): Promise<ChangesetRecord> {
  const reverting = withNote({ ...record, state: 'reverting' }, why);
  await writeRecord(store, reverting);
  return reverting;
}

/** Puts the old files back and opens the changeset again. */
export async function revert(store: ChangesetStore, record: ChangesetRecord): Promise<Finished> {
  const leftAlone = await moveOwnFiles(store, record, 'before');
  const { commit: _commit, replaced: _replaced, ...rest } = record;
  const open = noteLeftAlone({ ...rest, state: 'open' }, leftAlone);
  await writeRecord(store, open);
  return { record: open, leftAlone };
}

export async function beginUndo(store: ChangesetStore, record: ChangesetRecord): Promise<ChangesetRecord> {
  const undoing: ChangesetRecord = { ...record, state: 'undoing' };
  await writeRecord(store, undoing);
  return undoing;
}

/** Puts the old files back and records that the changeset is undone. */
export async function finishUndo(store: ChangesetStore, record: ChangesetRecord): Promise<Finished> {
  const leftAlone = await moveOwnFiles(store, record, 'before');
  const undone = noteLeftAlone({ ...record, state: 'undone' }, leftAlone);
  await writeRecord(store, undone);
  return { record: undone, leftAlone };
}

/**
 * Records the outcome of a change that the swarm has taken. The change is in force even if the record cannot be written:
 * the next recovery finds all files in place and writes the record.
 */
export async function recordOutcome(store: ChangesetStore, record: ChangesetRecord): Promise<ChangesetRecord> {
  await writeRecord(store, record).catch((error: unknown) => {
    const message = `Changeset ${record.id} is ${record.state}, but its record could not be written: ${describeReason(error)}`;
    store.warn({ path: store.paths.record(record.id), message });
  });
  return record;
}

/** Awaits the repair of a failed change. If the repair fails too, the error says that recovery goes on with it. */
export async function repairAfter(reason: unknown, id: string, repair: () => Promise<unknown>): Promise<void> {
  try {
    await repair();
  } catch (error) {
    if (!GoondanError.is(error)) throw error;
    const message = `A change of the files of changeset ${id} failed and could not be taken back: ${error.message}`;
    throw new GoondanError(error.code, message, {
      cause: reason,
      suggestion: 'Solve the problem of the disk. The next command of `gdn` in this folder goes on from there.',
    });
  }
}

export function describeReason(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason);
}

export function withNote(record: ChangesetRecord, note: string): ChangesetRecord {
  const { notes, noteCharacters } = changesetLimits;
  const short = note.length > noteCharacters ? `${note.slice(0, noteCharacters - 1).toWellFormed()}…` : note;
  return { ...record, notes: [...(record.notes ?? []), short].slice(-notes) };
}

export function noteLeftAlone(record: ChangesetRecord, paths: readonly string[]): ChangesetRecord {
  if (paths.length === 0) return record;
  return withNote(record, `Somebody edited ${paths.join(', ')} meanwhile, so it was left as it is.`);
}
