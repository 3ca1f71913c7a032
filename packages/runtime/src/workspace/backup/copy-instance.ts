/**
 * Copies one conversation while its owner may be writing. Its checkpoint, base, states and log must fit together, so the copy is
 * read like a conversation. If something does not fit, the owner has written meanwhile, and the files are copied again.
 * If the files have not changed since, they are damaged, and the copy stays as it is.
 */
import { keptTurns } from '../history/kept-history.ts';
import { defaultLimits } from '../limits.ts';
import { pathsIn, type StoredInstance } from '../layout/instance-paths.ts';
import { checksum } from '../lines/checksum.ts';
import { readLock } from '../lock/acquire-lock.ts';
import { readStates } from '../records/extension-files.ts';
import { readBaseFile } from '../records/read-base.ts';
import { readLog } from '../records/read-log.ts';
import { readFirstMetadata, readMetadata } from '../records/read-metadata.ts';
import { busyFiles, reasonOf } from './backup-errors.ts';
import { conversations, coreFolders, logPath, planCore, type PlannedFile, planFiles } from './backup-plan.ts';
import type { BackupSource } from './backup-source.ts';
import type { BackupWriter } from './backup-writer.ts';
import { copyTree, type TreeReport } from './copy-tree.ts';
import { cutOpenTurn } from './cut-open-turn.ts';
import { readCopiedInbox } from './read-copied-inbox.ts';
import { snapshotLog } from './snapshot-log.ts';

const ATTEMPTS = 20;

/**
 * Copies the conversation in the folder `name`. Returns `gone` if it was deleted meanwhile. A damaged conversation is
 * copied as it is, and reported.
 *
 * **Errors** — `E_BACKUP_BUSY` when the files change during every attempt; those of the disk.
 */
export async function copyInstance(
  source: BackupSource,
  writer: BackupWriter,
  name: string,
  report: TreeReport,
): Promise<'copied' | 'gone'> {
  const from = `${source.workspace}/${conversations}/${name}`;
  const to = `${conversations}/${name}`;
  const problem = await copyCore(source, writer, from, to);
  const all = await listFiles(source, from);
  if (all === undefined) {
    await writer.removeFolder(to);
    return 'gone';
  }
  if (problem !== undefined) report.problems.push(problem);
  // The copied lock must not be older than the log, whose readers compare its epoch with the checkpoint.
  const { epoch } = await readLock(source.fs, `${from}/lock`);
  const released = Buffer.from(JSON.stringify({ epoch, owner: null }));
  if (epoch > 0) await writer.write(`${to}/lock`, released);
  for (const { path, kind } of all) {
    if (kind === 'loose') await copyTree(source.fs, writer, `${from}/${path}`, `${to}/${path}`, report);
  }
  return 'copied';
}

/** Copies the files that belong together. Returns a description of their damage. */
async function copyCore(
  source: BackupSource,
  writer: BackupWriter,
  from: string,
  to: string,
): Promise<string | undefined> {
  let before: string | undefined;
  const copied = new Set<string>();
  for (let attempt = 1; ; attempt += 1) {
    const isWhole = await copyOnce(source, writer, { from, to, copied });
    const found = isWhole ? await readCopy(source, writer.pathOf(to), from) : 'changed';
    if (found === 'whole') return undefined;
    if (found === 'cut') {
      const log = await source.fs.read(pathsIn(writer.pathOf(to)).events);
      if (log) await writer.write(`${to}/${logPath}`, cutOpenTurn(log));
      return undefined;
    }
    const state = await describeFiles(source, from);
    if (state === undefined) return undefined;
    if (found !== 'changed' && state === before) return found.problem;
    if (attempt >= ATTEMPTS) throw busyFiles(from, attempt);
    before = state;
    await source.pause(attempt);
  }
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
    if (entry) await writer.copy(source, target, entry.size, 0);
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

/**
 * Reads the copy like a conversation. `from`: the path of the original, for problems. Returns `cut` if the log ends with a
 * turn whose input is not in the copy of the inbox, because it was accepted after that copy. Nobody could resume the turn.
 */
async function readCopy(
  source: BackupSource,
  copy: string,
  from: string,
): Promise<'whole' | 'cut' | { readonly problem: string }> {
  const paths = pathsIn(copy);
  const ports = { ...source, fs: withoutCopies(source.fs), warn: () => undefined };
  const damaged = (problem: string) => ({ problem: problem.replaceAll(copy, from) });
  try {
    const files = { ...ports, paths };
    const metadata = (await readMetadata(files)) ?? (await readFirstMetadata(files))?.metadata;
    const address = { agentName: metadata?.agentName ?? '', instanceKey: metadata?.instanceKey ?? '' };
    const stored: StoredInstance = { ...ports, paths, address, limits: defaultLimits };
    const log = await readLog(stored);
    if (!log) return 'whole';
    const { damage, state } = log;
    if (damage) return damaged(`${damage.path} is damaged: ${damage.problem}`);
    const isBase = await readBaseFile(stored, log.metadata.checkpoint.base);
    if (!isBase) return damaged(`${paths.base} is damaged: it does not match the checkpoint`);
    const [lost] = (await readStates(stored, state.states)).lost;
    if (lost !== undefined) return damaged(`${paths.extension(lost)} is damaged: its checksum does not match`);
    // The history is read to its end, because its reader checks each turn.
    for await (const _ of keptTurns(stored));
    const { turnId } = state.open;
    // The inbox is shared by all conversations, so it is read only for an interrupted turn.
    return turnId === undefined || (await readCopiedInbox(stored)).includes(turnId) ? 'whole' : 'cut';
  } catch (error) {
    return damaged(reasonOf(error));
  }
}

/** Readers copy a damaged file aside. A backup only reports it. */
function withoutCopies(fs: BackupSource['fs']): BackupSource['fs'] {
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
