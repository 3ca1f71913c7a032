/**
 * Writes a backup of a workspace into a folder, while a swarm may run. It takes no lock, and only reads the workspace.
 *
 * Invariants: 1. Every input that was acknowledged before the start is in the backup, in the inbox or as a turn.
 * 2. The manifest is written last, and only when everything else is durable. 3. After an error, nothing is left in the folder.
 */
import { newUuid } from '../../ports/ids.ts';
import { InboxReader } from '../inbox/inbox-reader.ts';
import { listInboxSegments } from '../inbox/inbox-segments.ts';
import { readInboxLog } from '../inbox/read-inbox-log.ts';
import { makeFolders } from '../layout/make-folders.ts';
import { readLines } from '../lines/read-lines.ts';
import { replaceFile } from '../lines/replace-file.ts';
import { busyFiles, MANIFEST, unusableFolder } from './backup-errors.ts';
import { conversations, firstFile, firstFolder, isConversation, isKept } from './backup-plan.ts';
import type { BackupSource } from './backup-source.ts';
import { type BackupProgress, BackupWriter } from './backup-writer.ts';
import { copyInstance, withoutCopies } from './copy-instance.ts';
import { copyTree, type TreeReport } from './copy-tree.ts';
import { findLostCopies } from './find-lost-copies.ts';
import { forEachAtMost } from './for-each-at-most.ts';
import { type BackupHead, encodeManifest } from './manifest.ts';
import { snapshotLog } from './snapshot-log.ts';

export interface BackupOptions extends Pick<BackupHead, 'version' | 'swarm'> {
  /** The folder of the backup: a resolved path outside of the state root. */
  readonly folder: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: BackupProgress) => void;
}

export interface Backup extends BackupProgress {
  readonly startedAt: Date;
  readonly conversations: number;
  /** The damaged conversations, their lost images and files, and unreadable files, one line of text for each. */
  readonly problems: readonly string[];
  /** The paths of links, sockets and pipes, which are not in the backup. */
  readonly skipped: readonly string[];
}

/** The folder in the backup that has the files of the workspace. */
export const COPY = 'workspace';
/** A file that a backup has until it is complete. */
const INCOMPLETE = 'incomplete';
/** Conversations that are copied at the same time. */
const COPIES = 4;
const ATTEMPTS = 20;

/**
 * **Errors** — `E_BACKUP_FOLDER` when the folder is not empty, `E_BACKUP_BUSY`; the reason of `signal`; those of the
 * disk.
 */
export async function backUpWorkspace(source: BackupSource, options: BackupOptions): Promise<Backup> {
  const { fs } = source;
  const { folder, signal, onProgress } = options;
  const claim = await claimFolder(source, folder);
  const writer = new BackupWriter(fs, `${folder}/${COPY}`, signal, onProgress);
  try {
    const startedAt = source.clock.now();
    await fs.makeFolder(`${folder}/${COPY}`);
    const { count, report } = await copyWorkspace(source, writer);
    const { version, swarm } = options;
    const head = {
      version,
      swarm,
      conversations: count,
      startedAt: startedAt.toISOString(),
      problems: report.problems,
    };
    await complete(source, folder, writer, head, claim.text);
    const bytes = writer.files.reduce((sum, file) => sum + file.bytes, 0);
    return { startedAt, conversations: count, files: writer.files.length, bytes, ...report };
  } catch (error) {
    await writer.close();
    const isDiscarded = await discard(source, folder, claim.isNew).then(
      () => true,
      () => false,
    );
    // Whoever interrupts a backup is told that nothing is left of it.
    if (!isDiscarded && signal?.aborted === true)
      throw unusableFolder(folder, 'has the rest of this backup.', 'Delete it.');
    throw error;
  }
}

/**
 * Makes the folder, and marks it as incomplete. Returns the text of the mark, and whether the folder is new. The mark is
 * not created with `createNew`, because a disk for backups may have no hard links.
 */
async function claimFolder({ fs }: BackupSource, folder: string) {
  const suggestion = 'Name a folder that is empty or does not exist.';
  const entry = await fs.look(folder);
  if (entry !== undefined && entry.kind !== 'folder') throw unusableFolder(folder, 'is not a folder.', suggestion);
  const names = (await fs.list(folder)) ?? [];
  if (names.includes(MANIFEST)) throw unusableFolder(folder, 'has a backup already.', suggestion);
  if (names.includes(INCOMPLETE)) {
    const advice = 'If no other `gdn backup` writes it, delete it. Then type the command again.';
    throw unusableFolder(folder, 'has an incomplete backup.', advice);
  }
  if (names.length > 0) throw unusableFolder(folder, 'is not empty.', suggestion);
  await makeFolders(fs, folder, folder);
  const text = `This backup is not complete, and cannot be restored: ${newUuid()}\n`;
  const mark = await fs.openFile(`${folder}/${INCOMPLETE}`);
  try {
    await mark.append(Buffer.from(text));
  } finally {
    await mark.close();
  }
  return { text, isNew: entry === undefined };
}

/**
 * Copies in the order of `backup-plan.ts`. If the inbox log began meanwhile, the copy may have a conversation whose input
 * is not in the copy of the inbox, so all of it is copied again.
 */
async function copyWorkspace(source: BackupSource, writer: BackupWriter): Promise<CopiedWorkspace> {
  const { fs, workspace } = source;
  const report: TreeReport = { problems: [], skipped: [] };
  const hadInput = await hasInput(source);
  await copyInbox(source, writer);
  await copyQuestions(source, writer, report);
  const count = await copyConversations(source, writer, report);
  if (!hadInput && (await hasInput(source))) {
    await writer.remove(firstFile);
    for (const folder of [firstFolder, conversations]) await writer.removeFolder(folder);
    return copyWorkspace(source, writer);
  }
  for (const name of ((await fs.list(workspace)) ?? []).filter(isKept)) {
    if ([firstFolder, firstFile, conversations].includes(name)) continue;
    await copyTree(fs, writer, `${workspace}/${name}`, name, report);
  }
  report.problems.push(...(await findLostCopies(source, writer)));
  return { count, report };
}

interface CopiedWorkspace {
  /** The number of conversations. */
  readonly count: number;
  readonly report: TreeReport;
}

/** Returns true if the inbox log has begun. */
async function hasInput({ fs, workspace }: BackupSource): Promise<boolean> {
  return (await listInboxSegments(fs, `${workspace}/${firstFolder}`)).length > 0;
}

async function copyQuestions({ fs, workspace }: BackupSource, writer: BackupWriter, report: TreeReport) {
  const path = `${workspace}/${firstFile}`;
  const questions = await fs.read(path);
  if (!questions) return;
  await writer.write(firstFile, questions);
  const { damage } = readLines(questions);
  if (damage !== undefined) report.problems.push(`${path} is damaged: ${damage}`);
}

/** Copies the log of accepted input. A file that disappears meanwhile was compacted, and all files are copied again. */
async function copyInbox(source: BackupSource, writer: BackupWriter): Promise<void> {
  const { fs, workspace } = source;
  const folder = `${workspace}/${firstFolder}`;
  const list = async () => (await fs.list(folder))?.filter(isKept).toSorted();
  for (let attempt = 1; ; attempt += 1) {
    const names = await list();
    if (!names) return;
    await writer.makeFolder(firstFolder);
    for (const name of names) {
      const bytes = await snapshotLog(fs, `${folder}/${name}`);
      if (bytes) await writer.write(`${firstFolder}/${name}`, bytes);
    }
    if (JSON.stringify(names) === JSON.stringify(await list())) return;
    if (attempt >= ATTEMPTS) throw busyFiles(folder, attempt);
    await writer.removeFolder(firstFolder);
    await source.pause(attempt);
  }
}

async function copyConversations(source: BackupSource, writer: BackupWriter, report: TreeReport): Promise<number> {
  const folder = `${source.workspace}/${conversations}`;
  const copiedInbox = writer.pathOf(firstFolder);
  const { damage } = await readInboxLog(source.fs, copiedInbox, true);
  for (const { path, problem } of damage)
    report.problems.push(`${path.replace(copiedInbox, `${source.workspace}/${firstFolder}`)} is damaged: ${problem}`);
  const inbox = new InboxReader({ fs: withoutCopies(source.fs) }, copiedInbox);
  const names = ((await source.fs.list(folder)) ?? []).filter(isConversation);
  let count = 0;
  await forEachAtMost(COPIES, names, async (name) => {
    if ((await copyInstance({ source, writer, inbox, report }, name)) === 'copied') count += 1;
  });
  return count;
}

/** Writes the manifest. Two backups that began in the same folder at the same moment both fail. */
async function complete(
  { fs }: BackupSource,
  folder: string,
  writer: BackupWriter,
  head: BackupHead,
  mark: string,
): Promise<void> {
  await writer.sync();
  const found = await fs.read(`${folder}/${INCOMPLETE}`);
  if (!found || new TextDecoder().decode(found) !== mark) {
    throw unusableFolder(folder, 'is used by another backup.', 'Name a folder of its own for each backup.');
  }
  await fs.remove(`${folder}/${INCOMPLETE}`);
  await fs.syncFolder(folder);
  const { files, folders } = writer;
  await replaceFile(fs, `${folder}/${MANIFEST}`, encodeManifest({ ...head, files, folders }));
}

/** Removes what this backup has written, and nothing else. */
async function discard({ fs }: BackupSource, folder: string, isNew: boolean): Promise<void> {
  await fs.removeFolder(`${folder}/${COPY}`);
  for (const name of [INCOMPLETE, MANIFEST, `${MANIFEST}.next`]) await fs.remove(`${folder}/${name}`);
  if (isNew) await fs.removeEmptyFolder(folder);
}
