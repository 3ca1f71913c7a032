/**
 * Reads and writes the records of changesets. A record is one sealed line and is replaced atomically, so a crash leaves
 * the old or the new record. A damaged record can only come from the disk; it is put aside and breaks no other one.
 */
import { GoondanError } from '@goondan/types';
import {
  type Check,
  count,
  listOf,
  name,
  object,
  oneOf,
  optional,
  ShapeError,
  type ShapeOf,
  text,
} from '../../ipc/check/shape.ts';
import { recordIn } from '../layout/changeset-paths.ts';
import { readLines } from '../lines/read-lines.ts';
import { replaceFile } from '../lines/replace-file.ts';
import { seal } from '../lines/seal-lines.ts';
import type { ChangesetCommit, ChangesetRecord, RecordedEdit, ReplacedFiles } from './changeset-record.ts';
import type { ChangesetStore } from './changeset-store.ts';

const ID = /^[0-9a-f]{8}$/;

/** Reads a record, expired ones too. Returns `undefined` when there is none, or it is damaged. **Errors** — `E_STORE_READ`. */
export async function readRecord(store: ChangesetStore, id: string): Promise<ChangesetRecord | undefined> {
  // An id comes from a model or a person, and becomes a part of a path.
  if (!ID.test(id)) return undefined;
  const path = store.paths.record(id);
  try {
    const bytes = await readFile(store, path);
    if (bytes === undefined) return undefined;
    const record = decodeRecord(bytes);
    if (record.id !== id || record.bundleFolder !== store.bundleFolder)
      throw new ShapeError('belongs to another folder');
    return record;
  } catch (error) {
    if (error instanceof ShapeError) await putAside(store, id, error.message);
    else throw error;
    return undefined;
  }
}

/** Reads a regular file. A read of a pipe would never end. */
async function readFile({ fs }: ChangesetStore, path: string): Promise<Uint8Array | undefined> {
  const entry = await fs.look(path);
  if (entry !== undefined && entry.kind !== 'file') throw new ShapeError('is not a regular file');
  return entry && fs.read(path);
}

/** Reads all intact records, newest first. */
export async function readRecords(store: ChangesetStore): Promise<readonly ChangesetRecord[]> {
  const names = (await store.fs.list(store.paths.folder)) ?? [];
  const records: ChangesetRecord[] = [];
  for (const id of names) {
    const record = await readRecord(store, id);
    if (record !== undefined) records.push(record);
  }
  return records.toSorted((one, other) => compare(other.openedAt, one.openedAt) || compare(one.id, other.id));
}

/** Replaces the record of a changeset; durable when it resolves. */
export async function writeRecord(store: ChangesetStore, record: ChangesetRecord): Promise<void> {
  await writeRecordIn(store, store.paths.changeset(record.id), record);
}

/** Writes the record into another folder than its own. */
export async function writeRecordIn(store: ChangesetStore, folder: string, record: ChangesetRecord): Promise<void> {
  const line = seal(JSON.stringify({ seq: 1, record }));
  await replaceFile(store.fs, recordIn(folder), new TextEncoder().encode(line));
}

export function isExpired(record: ChangesetRecord, now: Date): boolean {
  return record.state === 'open' && Date.parse(record.expiresAt) <= now.getTime();
}

function decodeRecord(bytes: Uint8Array): ChangesetRecord {
  const { lines, damage, torn } = readLines(bytes);
  const fields = lines[0]?.fields;
  if (fields === undefined || damage !== undefined || torn || lines.length > 1) {
    throw new ShapeError('has a wrong checksum');
  }
  return changesetRecord(fields['record']);
}

/** Renames the folder of a damaged record, so that later reads do not find it. */
async function putAside(store: ChangesetStore, id: string, problem: string): Promise<void> {
  const folder = store.paths.changeset(id);
  const aside = `${folder}.corrupt-${store.clock.now().toISOString().replaceAll(':', '-')}`;
  const message = `The record of changeset ${id} is damaged: ${problem}.`;
  try {
    await store.fs.rename(folder, aside);
    store.warn({ path: store.paths.record(id), message: `${message} Its folder is now ${aside}.` });
  } catch (error) {
    const why = GoondanError.is(error) ? error.message : String(error);
    store.warn({ path: store.paths.record(id), message: `${message} It cannot be put aside: ${why}` });
  }
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

const DIGEST = /^[0-9a-f]{64}$/;

const digest: Check<string> = (value) => {
  if (typeof value !== 'string' || !DIGEST.test(value)) throw new ShapeError('is not a digest');
  return value;
};

const digestOrNull: Check<string | null> = (value) => (value === null ? null : digest(value));

const time: Check<string> = (value) => {
  const checked = text(value);
  if (Number.isNaN(Date.parse(checked))) throw new ShapeError('is not a time');
  return checked;
};

const texts: Check<string[]> = (value) => [...listOf(text)(value)];

const edit: Check<RecordedEdit> = object({
  path: name,
  before: digestOrNull,
  after: digestOrNull,
} satisfies ShapeOf<RecordedEdit>);

const replaced: Check<ReplacedFiles> = object({
  modes: listOf(object({ path: name, mode: count })),
  newFolders: texts,
} satisfies ShapeOf<ReplacedFiles>);

const commit: Check<ChangesetCommit> = object({
  at: time,
  digest,
  by: optional(text),
  via: optional(text),
  baseRef: text,
  newRef: text,
  summary: object({ filesChanged: texts, filesAdded: texts, filesDeleted: texts }),
  addedTools: texts,
} satisfies ShapeOf<ChangesetCommit>);

const changesetRecord: Check<ChangesetRecord> = object({
  id: name,
  bundleFolder: text,
  swarm: text,
  agent: text,
  instanceKey: text,
  openedAt: time,
  expiresAt: time,
  state: oneOf('open', 'applying', 'reverting', 'committed', 'undoing', 'undone'),
  edits: listOf(edit),
  reads: optional(listOf(object({ path: name, digest: digestOrNull }))),
  replaced: optional(replaced),
  commit: optional(commit),
  undone: optional(object({ at: time, by: optional(text) })),
  notes: optional(texts),
} satisfies ShapeOf<ChangesetRecord>);
