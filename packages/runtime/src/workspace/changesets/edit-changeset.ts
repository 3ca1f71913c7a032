/** Reads and writes the edits of an open changeset. Nothing here changes the bundle. */
import { GoondanError } from '@goondan/types';
import type { ChangesetRecord, FileEdit, RecordedEdit } from './changeset-record.ts';
import { changeOf } from './apply-changeset.ts';
import { changesetLimits, type ChangesetStore } from './changeset-store.ts';
import type { ChangesetEdits, ComparedFile } from './changesets.ts';
import { dropContent, findContent, readContent, storeContent } from './contents.ts';
import { digestEdits } from './digest-edits.ts';
import { foldPath } from './find-path-problem.ts';
import { writeRecord } from './record-file.ts';

/**
 * Returns the text of a file with the edits; `null` if the file is deleted. If somebody edited the file of the bundle after
 * the changeset did, returns the file of the bundle, so that the agent can make its edit again. Remembers the digest of a
 * file that it returned from the bundle.
 */
export async function readEdited(store: ChangesetStore, record: ChangesetRecord, path: string): Promise<string | null> {
  const present = await readPermitted(store, path);
  const digest = present?.digest ?? null;
  const edit = record.edits.find((each) => each.path === path);
  if (edit !== undefined && edit.before === digest)
    return edit.after === null ? null : decode(path, await readContent(store, record.id, edit.after));
  if (edit === undefined && present === undefined) throw refused(path, 'does not exist in the bundle');
  const reads = record.reads ?? [];
  if (!reads.some((each) => each.path === path && each.digest === digest)) {
    const others = reads.filter((each) => each.path !== path);
    const last = [...others, { path, digest }].slice(-changesetLimits.reads);
    await writeRecord(store, { ...record, reads: last });
  }
  return present?.text ?? null;
}

/** Puts an edit into the changeset. An edit that changes nothing is dropped. */
export async function writeEdit(
  store: ChangesetStore,
  record: ChangesetRecord,
  path: string,
  content: string | null,
): Promise<void> {
  const present = await readPermitted(store, path);
  if (content !== null) refuseContent(path, content);
  const earlier = record.edits.find((each) => each.path === path);
  const others = record.edits.filter((each) => each.path !== path);
  const read = record.reads?.find((each) => each.path === path);
  // An edited file is based on a later text only if the agent has read that text.
  const { digest: before } = read ?? { digest: earlier === undefined ? (present?.digest ?? null) : earlier.before };
  if (content === null && before === null && earlier === undefined) throw refused(path, 'does not exist in the bundle');
  refuseOverlap(path, others);
  const bytes = content === null ? null : new TextEncoder().encode(content);
  const after = bytes === null ? null : await storeContent(store, record.id, bytes);
  const edits = after === before ? others : [...others, { path, before, after }];
  if (edits.length > changesetLimits.files) {
    if (after !== null) await dropContent(store, record, after);
    throw new GoondanError('E_CHANGESET_LIMIT', `A changeset changes at most ${changesetLimits.files} files.`, {
      suggestion: 'Commit this changeset, then open another one for the other files.',
    });
  }
  const reads = record.reads?.filter((each) => each.path !== path);
  const changed: ChangesetRecord = {
    ...record,
    edits: edits.toSorted((one, other) => (one.path < other.path ? -1 : 1)),
    ...(reads !== undefined && { reads }),
  };
  await writeRecord(store, changed);
  await dropContent(store, changed, earlier?.after ?? null);
  await dropContent(store, changed, earlier?.before ?? null);
  await dropContent(store, changed, after);
}

export async function readEdits(store: ChangesetStore, { id, edits }: ChangesetRecord): Promise<ChangesetEdits> {
  const read: FileEdit[] = [];
  for (const edit of edits) {
    read.push({ ...edit, content: edit.after === null ? null : await readContent(store, id, edit.after) });
  }
  return { edits: read, digest: digestEdits(read) };
}

/** Returns the old and the new text of each file. */
export async function compareFiles(store: ChangesetStore, record: ChangesetRecord): Promise<readonly ComparedFile[]> {
  const files: ComparedFile[] = [];
  for (const edit of record.edits) {
    const old = await findOld(store, record.id, edit);
    files.push({
      path: edit.path,
      change: changeOf(edit),
      ...(old !== undefined && { old }),
      new: edit.after === null ? null : decode(edit.path, await readContent(store, record.id, edit.after)),
    });
  }
  return files;
}

async function findOld(store: ChangesetStore, id: string, edit: RecordedEdit): Promise<string | null | undefined> {
  if (edit.before === null) return null;
  const stored = await findContent(store, id, edit.before);
  if (stored !== undefined) return decode(edit.path, stored);
  const { digest, bytes } = await store.tree.present(edit.path);
  return digest === edit.before && bytes !== undefined ? decode(edit.path, bytes) : undefined;
}

/** Reads a file that a changeset may touch; `undefined` if there is none. **Errors** — `E_CHANGESET_FILE`, `E_CHANGESET_LIMIT`. */
async function readPermitted({ tree }: ChangesetStore, path: string) {
  const problem = tree.findProblem(path);
  if (problem !== undefined) throw refused(path, problem);
  const found = await tree.find(path);
  if (found.kind === 'blocked') throw refused(path, found.why);
  if (!(await tree.isSpelledSo(path))) throw refused(path, 'is spelled differently in the bundle');
  if (found.kind === 'missing') return undefined;
  const { digest, bytes } = await tree.present(path);
  if (typeof digest !== 'string' || bytes === undefined) throw tooLarge(path);
  return { digest, text: decode(path, bytes) };
}

function refuseContent(path: string, content: string): void {
  if (!content.isWellFormed() || content.includes('\0')) throw refused(path, 'would not be a text file');
  if (Buffer.byteLength(content) > changesetLimits.fileBytes) throw tooLarge(path);
}

/** Refuses two edits that cannot both be in one bundle: a file inside another file, or two spellings of one name. */
function refuseOverlap(path: string, others: readonly RecordedEdit[]): void {
  const folded = foldPath(path);
  for (const other of others) {
    const otherFolded = foldPath(other.path);
    const overlaps =
      folded === otherFolded || folded.startsWith(`${otherFolded}/`) || otherFolded.startsWith(`${folded}/`);
    if (overlaps) throw refused(path, `cannot be edited together with ${other.path}`);
  }
}

/** Decodes text without dropping a byte order mark, so that an unchanged text keeps its digest. */
function decode(path: string, bytes: Uint8Array): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    if (!text.includes('\0')) return text;
  } catch {
    // Not UTF-8.
  }
  throw refused(path, 'is not a text file');
}

function refused(path: string, problem: string): GoondanError {
  const shown = path.length > LONGEST_SHOWN ? `${path.slice(0, LONGEST_SHOWN)}…` : path;
  return new GoondanError('E_CHANGESET_FILE', `${JSON.stringify(shown)} ${problem}.`);
}

const LONGEST_SHOWN = 200;

function tooLarge(path: string): GoondanError {
  return new GoondanError('E_CHANGESET_LIMIT', `${path} is larger than ${changesetLimits.fileBytes} bytes.`, {
    suggestion: 'Split the file into smaller ones.',
  });
}
