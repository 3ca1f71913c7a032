/**
 * Opens an instance after any kind of crash. First, it syncs every file. A killed process may have left writes that are
 * only in memory, and no data may be deleted on the basis of such a write.
 *
 * Then it completes an unfinished commit: the base, the archive, the extension states and the answer. The log of an
 * uncommitted turn is kept. For damage that a crash cannot cause, it throws `E_STORE_CORRUPT` and changes nothing.
 */
import { archiveTexts } from '../archive/archive-lines.ts';
import { readTail } from '../archive/read-tail.ts';
import { nextOf, type StoredInstance } from '../layout/instance-paths.ts';
import type { AppendLog } from '../lines/append-log.ts';
import { corruptStore } from '../lines/corrupt-store.ts';
import { mendTail } from '../lines/open-lines.ts';
import { readLines, type ReadLines } from '../lines/read-lines.ts';
import { sealLines } from '../lines/seal-lines.ts';
import { together } from '../lines/together.ts';
import type { StorePorts } from '../store-ports.ts';
import { committedLog, isWholeLog } from '../records/committed-log.ts';
import { placeExtensions, readExtensionFiles, removeStrayExtensions } from '../records/extension-files.ts';
import { placeBase } from './apply-commit.ts';
import { FinishedTurns } from './finished-turns.ts';
import { closeInstanceFiles, openInstanceFiles, type InstanceFiles } from './instance-files.ts';
import type { InstanceQueues } from './instance-queues.ts';
import { readEventLine, readTurnLine } from '../records/logged-record.ts';
import { mergeLog } from './merge-log.ts';
import { logStart, type CommitRecord, type InstanceMetadata } from '../records/metadata.ts';
import { planBase, type BasePlan } from './plan-base.ts';

/**
 * Recovers an instance. Returns its open files, the log of the uncommitted turn, the committed states by extension name,
 * and the results of the last turns. **Errors** — `E_STORE_CORRUPT`, `E_STORE_READ`, `E_STORE_WRITE`, `E_DISK_FULL`.
 */
export async function recover(stored: StoredInstance, { commit }: InstanceMetadata, queues: InstanceQueues) {
  const found = await look(stored, commit);
  await makeNamesDurable(stored);
  const files = await openInstanceFiles(stored);
  try {
    await together([files.events.sync(), files.turn.sync(), files.base.sync(), files.archive.sync()]);
    await finishBase(stored, files, found.base);
    await finishArchive(stored, files, found, commit);
    await placeExtensions(stored, found.extensions.toRename, []);
    const finished = await lastResults(stored, commit);
    await queues.putReply(commit, finished);
    await clearLeftovers(stored, files, found, commit);
    return { files, log: found.open.log, extensions: found.extensions.texts, finished };
  } catch (error) {
    await closeInstanceFiles(files);
    throw error;
  }
}

/**
 * Reads all files. Rejects damage that a crash cannot cause, before anything is changed. `committed`: the records of the
 * committed turn that are still in the log files. `open`: the records of the uncommitted turn after it.
 */
async function look(stored: StoredInstance, commit: CommitRecord) {
  const { fs, paths } = stored;
  const events = await readLog(stored, paths.events);
  const turn = await readLog(stored, paths.turn);
  const archive = await readTail(fs, paths.archive, 1);
  const baseBytes = await fs.read(paths.base);
  if (!archive) throw await corruptStore(stored, paths.archive, 'it is missing');
  if (!baseBytes) throw await corruptStore(stored, paths.base, 'it is missing');
  if (archive.read.damage) throw await corruptStore(stored, paths.archive, archive.read.damage);

  const eventRecords = events.lines.map(readEventLine);
  const turnRecords = turn.lines.map(readTurnLine);
  const committed = committedLog(commit, eventRecords, turnRecords);
  const open = mergeLog(eventRecords, turnRecords, logStart(commit));
  if (open.damage) throw await corruptStore(stored, paths.events, open.damage);
  if (archive.last < commit.previous.seq) throw await corruptStore(stored, paths.archive, 'its last turns are missing');
  if (archive.last < commit.base.seq && !isWholeLog(commit, committed)) {
    throw await corruptStore(
      stored,
      paths.archive,
      'it ends before the last commit, and the events to add are missing',
    );
  }
  const base = planBase(baseBytes, await fs.read(nextOf(paths.base)), commit, committed);
  if (base.type === 'damaged') throw await corruptStore(stored, paths.base, base.problem);
  const extensions = await readExtensionFiles(stored, commit);
  if (extensions.damaged) throw await corruptStore(stored, extensions.damaged, 'its checksum does not match');
  return { events, turn, archive, base, extensions, committed, open };
}

async function readLog(ports: StorePorts, path: string): Promise<ReadLines> {
  const bytes = await ports.fs.read(path);
  if (!bytes) throw await corruptStore(ports, path, 'it is missing');
  const read = readLines(bytes);
  if (read.damage) throw await corruptStore(ports, path, read.damage);
  return read;
}

/**
 * Syncs the directories before any file is created or renamed. Otherwise a power loss could undo an earlier rename and
 * mix up the old and the new file.
 */
async function makeNamesDurable({ fs, paths }: StoredInstance): Promise<void> {
  await together([paths.messages, paths.extensions, paths.folder].map((folder) => fs.syncFolder(folder)));
  if (await fs.stat(paths.archive)) return;
  // A crash interrupted the rotation of the archive before the next file was created, so it is created here.
  const next = await fs.openFile(paths.archive);
  await next.close();
  await fs.syncFolder(paths.messages);
}

async function finishBase(stored: StoredInstance, files: InstanceFiles, plan: BasePlan): Promise<void> {
  if (plan.type === 'append') {
    await files.base.truncate(plan.from);
    await files.base.write(plan.bytes);
    await files.base.sync();
  }
  if (plan.type === 'rename') await placeBase(stored, files);
}

async function finishArchive(
  ports: StorePorts,
  files: InstanceFiles,
  { archive, committed, extensions }: Awaited<ReturnType<typeof look>>,
  commit: CommitRecord,
): Promise<void> {
  await mendTail(ports, files.archive.current, archive.read);
  const texts = archive.last < commit.base.seq ? archiveTexts(commit, committed, archive.last, extensions.texts) : [];
  // Writes without rotating: the first lines of this turn may be in the current file, and a turn must not span two
  // files.
  if (texts.length > 0) await files.archive.current.write(sealLines(texts));
  await files.archive.sync();
}

/**
 * Reads the results of the last turns. The newest is always included, however long its lines are, because its answer
 * may still have to be delivered.
 */
async function lastResults({ fs, paths, limits }: StoredInstance, { turn }: CommitRecord): Promise<FinishedTurns> {
  const tail = await readTail(fs, paths.archive, limits.rememberedTurns);
  if (tail && (!turn || typeof turn.result === 'string' || tail.finished.has(turn.id)))
    return new FinishedTurns(limits, tail.finished);
  const last = await readTail(fs, paths.archive, 1, Number.POSITIVE_INFINITY);
  return new FinishedTurns(limits, [...(tail?.finished ?? []), ...(last?.finished ?? [])]);
}

/** Removes leftover files. Runs last, when no other part of recovery needs them. */
async function clearLeftovers(
  stored: StoredInstance,
  files: InstanceFiles,
  { events, turn, open }: Awaited<ReturnType<typeof look>>,
  commit: CommitRecord,
): Promise<void> {
  const { fs, paths, warn } = stored;
  await mendTail(stored, files.events, events);
  await mendTail(stored, files.turn, turn);
  if (open.log.length === 0) {
    await files.events.truncate(0);
    await files.turn.truncate(0);
  } else if (open.cutFrom !== undefined) {
    await cutFrom(files.events, events, open.cutFrom);
    await cutFrom(files.turn, turn, open.cutFrom);
  }
  if (open.cutFrom !== undefined) {
    // Syncs the cut: after a power loss, removed records must not reappear after later writes.
    await together([files.events.sync(), files.turn.sync()]);
    const message = `cut records from ${open.cutFrom} on: a crash had interrupted the write they came with`;
    warn({ path: paths.events, message });
  }
  await fs.remove(nextOf(paths.base));
  await fs.remove(nextOf(paths.metadata));
  await removeStrayExtensions(stored, commit);
}

async function cutFrom(log: AppendLog, { lines }: ReadLines, seq: number): Promise<void> {
  const first = lines.find((line) => line.seq >= seq);
  if (first) await log.truncate(first.start);
}
