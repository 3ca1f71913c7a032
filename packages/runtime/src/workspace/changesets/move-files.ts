/**
 * Replaces the files of a bundle with the contents of one side of a changeset: `after` its commit, or `before`. Each
 * file is first written in full beside its place, as a draft, and then renamed.
 *
 * Invariants: 1. A file is replaced only if it has the content of the other side immediately before. 2. Nothing is
 * renamed until all drafts are on disk. 3. When it resolves, all changes are durable and no draft is left. 4. It can run
 * again after a crash at any moment.
 */
import { dirname } from 'node:path/posix';
import { GoondanError } from '@goondan/types';
import type { ChangesetRecord, RecordedEdit } from './changeset-record.ts';
import type { ChangesetStore } from './changeset-store.ts';
import { readContent } from './contents.ts';
import { DRAFT_PREFIX } from './find-path-problem.ts';

export type Side = 'before' | 'after';

/** Thrown when a file has neither of its two contents: somebody else edited it. */
export class ForeignEdit extends Error {
  constructor(readonly path: string) {
    super(`${path} was edited by somebody else.`);
  }
}

/**
 * Thrown when a file of the bundle, its draft or its folder cannot be written. The message has no path of the machine, so
 * that an agent may read it.
 */
export class UnwritableFile extends GoondanError {
  constructor(path: string, { code, cause }: GoondanError) {
    // The system adds the path after a comma.
    const [words = ''] = cause instanceof Error ? cause.message.split(',') : [];
    super(code, `${path} of the bundle cannot be written: ${words}.`, {
      cause,
      suggestion: 'Make room on the disk of the bundle, or make the file and its folder writable. Then commit again.',
    });
  }
}

/** Moves all files to one side. **Errors** — `ForeignEdit`, after which some files may have been moved. */
export async function moveAllFiles(store: ChangesetStore, record: ChangesetRecord, side: Side): Promise<void> {
  await moveFiles(store, record, side, (path) => {
    throw new ForeignEdit(path);
  });
}

/** Moves the files that nobody else edited. Returns the paths of the others, which it leaves alone. */
export async function moveOwnFiles(
  store: ChangesetStore,
  record: ChangesetRecord,
  side: Side,
): Promise<readonly string[]> {
  const leftAlone: string[] = [];
  await moveFiles(store, record, side, (path) => void leftAlone.push(path));
  return leftAlone;
}

/** Removes the drafts that an interrupted move left; durable when it resolves. */
export async function removeDrafts(store: ChangesetStore, record: ChangesetRecord): Promise<void> {
  for (const [index, { path }] of record.edits.entries()) await removeDraft(store, draftOf(record, path, index));
}

async function moveFiles(
  store: ChangesetStore,
  record: ChangesetRecord,
  side: Side,
  meetForeign: (path: string) => void,
): Promise<void> {
  await removeDrafts(store, record);
  const moves: Move[] = [];
  for (const [index, edit] of record.edits.entries()) {
    const { digest, mode = oldMode(record, edit.path, side) } = await store.tree.present(edit.path);
    if (digest === edit[side]) continue;
    if (digest !== edit[otherThan(side)]) meetForeign(edit.path);
    else moves.push({ edit, draft: draftOf(record, edit.path, index), target: edit[side], mode });
  }
  for (const move of moves) await naming(move, () => prepare(store, record, move));
  for (const move of moves) {
    const { digest } = await store.tree.present(move.edit.path);
    if (digest === move.edit[otherThan(side)]) await naming(move, () => replace(store, move));
    else {
      await removeDraft(store, move.draft);
      meetForeign(move.edit.path);
    }
  }
  if (side === 'before') await removeNewFolders(store, record);
}

/** Names the file of the bundle in an error of the disk. */
async function naming({ edit: { path } }: Move, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    const isOfDisk = GoondanError.is(error) && (error.code === 'E_DISK_FULL' || error.code === 'E_STORE_WRITE');
    throw isOfDisk ? new UnwritableFile(path, error) : error;
  }
}

interface Move {
  readonly edit: RecordedEdit;
  readonly draft: string;
  readonly target: string | null;
  /** Permission bits; those of a new file when absent. */
  readonly mode: number | undefined;
}

async function prepare(store: ChangesetStore, record: ChangesetRecord, { edit, draft, target, mode }: Move) {
  const { fs, tree } = store;
  if (target === null) return;
  const bytes = await readContent(store, record.id, target);
  for (const folder of await tree.missingFolders(edit.path)) {
    await fs.makeSharedFolder(tree.at(folder));
    await fs.syncFolder(tree.at(dirname(folder)));
  }
  const file = await fs.openSharedFile(tree.at(draft));
  try {
    await file.append(bytes);
    if (mode !== undefined) await fs.setMode(tree.at(draft), mode);
    // Without this sync, the rename could reach the disk before the bytes.
    await file.sync();
  } finally {
    await file.close();
  }
}

async function replace({ fs, tree }: ChangesetStore, { edit: { path }, draft, target }: Move): Promise<void> {
  await (target === null ? fs.remove(tree.at(path)) : fs.rename(tree.at(draft), tree.at(path)));
  await fs.syncFolder(tree.at(dirname(path)));
}

async function removeDraft({ fs, tree }: ChangesetStore, draft: string): Promise<void> {
  // A folder that became a link is not followed, not even for a draft.
  if ((await tree.find(draft)).kind !== 'file') return;
  await fs.remove(tree.at(draft));
  await fs.syncFolder(tree.at(dirname(draft)));
}

/** Removes the folders that the commit made, if they are empty. */
async function removeNewFolders({ fs, tree }: ChangesetStore, { replaced }: ChangesetRecord): Promise<void> {
  for (const folder of (replaced?.newFolders ?? []).toReversed()) {
    const found = await tree.find(`${folder}/x`);
    if (found.kind === 'blocked' || (await fs.look(tree.at(folder))) === undefined) continue;
    await fs.removeEmptyFolder(tree.at(folder));
    await fs.syncFolder(tree.at(dirname(folder)));
  }
}

function oldMode({ replaced }: ChangesetRecord, path: string, side: Side): number | undefined {
  return side === 'before' ? replaced?.modes.find((each) => each.path === path)?.mode : undefined;
}

function otherThan(side: Side): Side {
  return side === 'before' ? 'after' : 'before';
}

/** The name is short and does not depend on the name of the file, which may be as long as a name can be. */
function draftOf({ id }: ChangesetRecord, path: string, index: number): string {
  const folder = dirname(path);
  const name = `${DRAFT_PREFIX}${id}-${index}`;
  return folder === '.' ? name : `${folder}/${name}`;
}
