/** Deletes changesets that are no longer needed, and the leftovers of crashes. The caller holds the lock of the bundle. */
import { deletedFolder, DELETED, DRAFT } from '../layout/instance-paths.ts';
import type { ChangesetRecord } from './changeset-record.ts';
import { changesetLimits, type ChangesetStore } from './changeset-store.ts';
import { isExpired, readRecords } from './record-file.ts';
import { sweepTrials } from './trial-folder.ts';

/** A draft of a new changeset that is older than this was left by a crash. */
const DRAFT_LIFE_MS = 60 * 60 * 1000;

export async function sweepChangesets(store: ChangesetStore): Promise<void> {
  const now = store.clock.now();
  const records = await readRecords(store);
  const ended = records.filter(({ state }) => state === 'committed' || state === 'undone').toSorted(newestFirst);
  const expired = records.filter((record) => isExpired(record, now));
  for (const { id } of [...expired, ...ended.slice(changesetLimits.ended)]) await deleteChangeset(store, id);
  for (const name of (await store.fs.list(store.paths.folder)) ?? []) {
    if (isLeftover(name, now)) await store.fs.removeFolder(store.paths.changeset(name));
  }
  await sweepTrials(store);
}

/** Deletes a changeset. It is gone with the rename; its contents follow. */
export async function deleteChangeset({ fs, ids, paths }: ChangesetStore, id: string): Promise<void> {
  const deleted = deletedFolder(paths.folder, ids.next(id));
  await fs.rename(paths.changeset(id), deleted);
  await fs.syncFolder(paths.folder);
  await fs.removeFolder(deleted);
}

/** Returns the name of the folder in which a new changeset is written before it is renamed into place. */
export function draftName(id: string, now: Date): string {
  return `${DRAFT}${now.getTime()}-${id}`;
}

function isLeftover(name: string, now: Date): boolean {
  if (name.startsWith(DELETED)) return true;
  if (!name.startsWith(DRAFT)) return false;
  const began = Number(name.slice(DRAFT.length).split('-')[0]);
  return !(now.getTime() - began < DRAFT_LIFE_MS);
}

function newestFirst(one: ChangesetRecord, other: ChangesetRecord): number {
  return endOf(other).localeCompare(endOf(one));
}

/** ISO times of the same clock sort as texts. */
function endOf({ undone, commit, openedAt }: ChangesetRecord): string {
  return undone?.at ?? commit?.at ?? openedAt;
}
