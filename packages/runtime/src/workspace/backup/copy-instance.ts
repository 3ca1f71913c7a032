/**
 * Copies one conversation while its owner may be writing. Its checkpoint, base, states and log must fit together, so the copy is
 * read like a conversation. If something does not fit, the owner has written meanwhile, and the files are copied again.
 * If the files have not changed since, they are damaged, and the copy stays as it is.
 */
import { eventIdOf } from '../../ports/ids.ts';
import { keptTurns } from '../history/kept-history.ts';
import type { InboxReader } from '../inbox/inbox-reader.ts';
import { defaultLimits } from '../limits.ts';
import { pathsIn, type StoredInstance } from '../layout/instance-paths.ts';
import { checksum } from '../lines/checksum.ts';
import { readLock } from '../lock/acquire-lock.ts';
import { readStates } from '../records/extension-files.ts';
import { readBaseFile } from '../records/read-base.ts';
import { takenBy } from '../records/taken-by.ts';
import { readHandledNumbers, type ReadLog, readLog } from '../records/read-log.ts';
import { readFirstMetadata, readMetadata } from '../records/read-metadata.ts';
import { busyFiles, reasonOf } from './backup-errors.ts';
import { conversations, coreFolders, logPath, planCore, type PlannedFile, planFiles } from './backup-plan.ts';
import type { BackupSource } from './backup-source.ts';
import { type BackupWriter, unlessUnreadable } from './backup-writer.ts';
import { copyTree, type TreeReport } from './copy-tree.ts';
import { dropOpenTurn } from './drop-open-turn.ts';
import { snapshotLog } from './snapshot-log.ts';

const ATTEMPTS = 20;

/** A backup that is being made. */
export interface BackupCopy {
  readonly source: BackupSource;
  readonly writer: BackupWriter;
  /** Reads the copy of the inbox log, which is complete. */
  readonly inbox: InboxReader;
  readonly report: TreeReport;
}

/**
 * Copies the conversation in the folder `name`. Returns `gone` if it was deleted meanwhile. A damaged conversation is
 * copied as it is, and reported.
 *
 * **Errors** — `E_BACKUP_BUSY` when the files change during every attempt; those of the disk.
 */
export async function copyInstance(copy: BackupCopy, name: string): Promise<'copied' | 'gone'> {
  const { source, writer, report } = copy;
  const from = `${source.workspace}/${conversations}/${name}`;
  const to = `${conversations}/${name}`;
  const { problem, leastEpoch = 0 } = await copyCore(copy, from, to);
  const all = await listFiles(source, from);
  if (all === undefined) {
    await writer.removeFolder(to);
    return 'gone';
  }
  if (problem !== undefined) report.problems.push(problem);
  // The copied lock must not be older than the log, whose readers compare its epoch with the checkpoint.
  const epoch = Math.max(leastEpoch, (await readLock(source.fs, `${from}/lock`)).epoch);
  const released = Buffer.from(JSON.stringify({ epoch, owner: null }));
  if (epoch > 0) await writer.write(`${to}/lock`, released);
  for (const { path, kind } of all) {
    if (kind === 'loose') await copyTree(source.fs, writer, `${from}/${path}`, `${to}/${path}`, report);
  }
  return 'copied';
}

interface CopiedCore {
  /** A description of the damage. */
  readonly problem?: string;
  /**
   * The smallest epoch that the copied lock may have. An owner that closes the conversation after the copy of its log
   * removes the lock. Without a lock, the checkpoint would count as the whole state if the log were lost.
   */
  readonly leastEpoch?: number;
}

/** Copies the files that belong together. */
async function copyCore(copy: BackupCopy, from: string, to: string): Promise<CopiedCore> {
  const { source, writer } = copy;
  let before: string | undefined;
  const copied = new Set<string>();
  for (let attempt = 1; ; attempt += 1) {
    const isWhole = await copyOnce(source, writer, { from, to, copied });
    const found = isWhole ? await readWithoutLateTurn(copy, from, to) : 'changed';
    if (found !== 'changed' && found.problem === undefined) return found;
    const state = await describeFiles(source, from);
    if (state === undefined) return {};
    if (found !== 'changed' && state === before) return found;
    if (attempt >= ATTEMPTS) throw busyFiles(from, attempt);
    before = state;
    await source.pause(attempt);
  }
}

/**
 * Reads the copy. A turn whose input is not in the copy of the inbox, because it was accepted after that copy, is dropped
 * from the copy: no process could resume it, and its conversation could not go on.
 */
async function readWithoutLateTurn(copy: BackupCopy, from: string, to: string): Promise<CopiedCore> {
  const { source, writer } = copy;
  const { late, ...found } = await readCopy(copy, from, to);
  if (late === undefined) return found;
  const bytes = (await source.fs.read(pathsIn(writer.pathOf(to)).events)) ?? new Uint8Array();
  await writer.write(`${to}/${logPath}`, dropOpenTurn(bytes, late.log, late.turnId, source.clock.now().getTime()));
  const { late: still, ...again } = await readCopy(copy, from, to);
  return still === undefined ? again : { problem: `${from} has a turn that could not be dropped: ${still.turnId}` };
}

/**
 * Copies the files once. `copied`: the paths of earlier attempts. Returns false if files of the log were renamed or
 * removed meanwhile.
 */
async function copyOnce(
  source: BackupSource,
  writer: BackupWriter,
  { from, to, copied }: { readonly from: string; readonly to: string; readonly copied: Set<string> },
): Promise<boolean> {
  const files = planCore((await listFiles(source, from)) ?? []);
  await writer.makeFolder(to);
  const wanted = new Set(files.map(({ path }) => path));
  for (const path of copied) if (!wanted.has(path)) await writer.remove(`${to}/${path}`);
  for (const file of files) {
    await copyFile(source, writer, file, from, to);
    copied.add(file.path);
  }
  const after = planCore((await listFiles(source, from)) ?? []);
  return closedFiles(files) === closedFiles(after);
}

async function copyFile({ fs }: BackupSource, writer: BackupWriter, file: PlannedFile, from: string, to: string) {
  const [source, target] = [`${from}/${file.path}`, `${to}/${file.path}`];
  if (file.kind === 'closed') {
    const entry = writer.has(target) ? undefined : await fs.look(source);
    // Without a segment that cannot be read, the copy is damaged, and is reported.
    if (entry) await unlessUnreadable(() => writer.copy(source, target, entry.size, 0));
    return;
  }
  const bytes = await (file.kind === 'log' ? snapshotLog(fs, source) : fs.read(source));
  if (bytes) await writer.write(target, bytes);
  else await writer.remove(target);
}

function closedFiles(files: readonly PlannedFile[]): string {
  return JSON.stringify(files.filter(({ kind }) => kind === 'closed').map(({ path }) => path));
}

/** Lists the files and folders in the folder of a conversation. Returns `undefined` when the folder does not exist. */
async function listFiles({ fs }: BackupSource, from: string): Promise<PlannedFile[] | undefined> {
  const found: PlannedFile[] = [];
  for (const folder of coreFolders) {
    const names = await fs.list(folder === '' ? from : `${from}/${folder}`);
    if (!names && folder === '') return undefined;
    found.push(...planFiles(folder, names ?? []));
  }
  return found.filter(({ path }) => !coreFolders.includes(path));
}

/** Reads the copy like a conversation. `from`: the path of the original, for problems. */
async function readCopy(
  { source, writer, inbox }: BackupCopy,
  from: string,
  to: string,
): Promise<CopiedCore & { readonly late?: { readonly turnId: string; readonly log: ReadLog } }> {
  const folder = writer.pathOf(to);
  const paths = pathsIn(folder);
  const ports = { ...source, fs: withoutCopies(source.fs), warn: () => undefined };
  const damaged = (problem: string) => ({ problem: problem.replaceAll(folder, from).replace(NO_COPY, '') });
  try {
    const files = { ...ports, paths };
    const metadata = (await readMetadata(files)) ?? (await readFirstMetadata(files))?.metadata;
    const address = { agentName: metadata?.agentName ?? '', instanceKey: metadata?.instanceKey ?? '' };
    const stored: StoredInstance = { ...ports, paths, address, limits: defaultLimits };
    const log = await readLog(stored);
    if (!log) return {};
    const { damage, state } = log;
    if (damage) return damaged(`${damage.path} is damaged: ${damage.problem}`);
    const { base, seq, closedBy } = log.metadata.checkpoint;
    if (!(await readBaseFile(stored, base)))
      return damaged(`${paths.base} is damaged: it does not match the checkpoint`);
    const [lost] = (await readStates(stored, state.states)).lost;
    if (lost !== undefined) return damaged(`${paths.extension(lost)} is damaged: its checksum does not match`);
    // The history is read to its end, because its reader checks each turn.
    for await (const _ of keptTurns(stored));
    const { turnId, log: records } = state.open;
    const taken = takenBy(records).map(({ event }) => event.id);
    // The inbox is shared by all conversations, so it is read only for an interrupted turn.
    const isLate = turnId !== undefined && !(await wait(inbox, stored, [eventIdOf(turnId), ...taken]));
    return { ...(state.seq > seq && { leastEpoch: closedBy + 1 }), ...(isLate && { late: { turnId, log } }) };
  } catch (error) {
    return damaged(reasonOf(error));
  }
}

/** Returns true if all these events wait in the copy of the inbox. **Errors** — `E_STORE_CORRUPT`. */
async function wait(inbox: InboxReader, stored: StoredInstance, ids: readonly string[]): Promise<boolean> {
  const handled = await readHandledNumbers(stored);
  // The input of a turn that has begun may have come after the copy of the inbox.
  const entries = await inbox.pending(stored, { ...handled, begun: handled.handled });
  const waiting = new Set(entries.map(({ event }) => event.id));
  return ids.every((id) => waiting.has(id));
}

/** The part of an error that says why no copy was kept aside. */
const NO_COPY = / \(no copy could be made: [^)]*\)/;

/** Readers copy a damaged file aside. A backup only reports it. */
export function withoutCopies(fs: BackupSource['fs']): BackupSource['fs'] {
  return { ...fs, createNew: () => Promise.reject(new Error('a backup is not changed')) };
}

/** Describes the files that belong together, so that two descriptions are equal if nothing has changed. */
async function describeFiles(source: BackupSource, from: string): Promise<string | undefined> {
  const files = await listFiles(source, from);
  if (!files) return undefined;
  const described = planCore(files).map(async ({ path, kind }) => {
    const stat = await source.fs.stat(`${from}/${path}`);
    const bytes = kind === 'closed' ? undefined : await source.fs.read(`${from}/${path}`);
    return [path, stat?.identity, stat?.size, bytes && checksum(bytes)];
  });
  return JSON.stringify(await Promise.all(described));
}
