/**
 * Migrates one instance from format 1 to format 2. Only for the owner of the workspace, while the instance has no process.
 *
 * 1. The new files are written beside the instance, in a folder `.migrated-<name>`. Its `metadata.json` comes last.
 * 2. The old folder moves to the kept copy, and the new folder gets its name. After a crash between the two renames, the
 *    next migration finishes the second one.
 */
import { cp, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { constants } from 'node:fs';
import type { Fs } from '../../ports/fs.ts';
import { instancesFolder, pathsIn, type StoredInstance } from '../layout/instance-paths.ts';
import { numbered } from '../lines/rotating-log.ts';
import { replaceFile } from '../lines/replace-file.ts';
import { markOf } from '../records/extension-files.ts';
import { encodeMetadata, FORMAT_VERSION, type InstanceMetadata } from '../records/metadata.ts';
import { CLOSED } from '../records/read-frames.ts';
import { SegmentWriter } from './convert-turns.ts';
import { archivePath } from './paths.ts';
import type { OldInstance } from './read-instance.ts';
import { readArchiveFile } from './read-turns.ts';

export const MIGRATED = '.migrated-';

/** Files and folders that stay the same. */
const COPIED = ['inbox.jsonl', 'scratch', 'traces', 'messages/history-start.jsonl'];
const COPIED_MESSAGES = /^runtime-events\.(?:\d+\.)?jsonl$/;

/**
 * `old`: absent if only the input of the instance is left to migrate. `kept`: the folder of the kept copies. Durable when the
 * promise resolves. **Errors** — those of the disk.
 */
export async function migrateInstance(
  stored: StoredInstance,
  old: OldInstance | undefined,
  { workspace, name, kept }: { readonly workspace: string; readonly name: string; readonly kept: string },
): Promise<void> {
  const { fs } = stored;
  const instances = instancesFolder(workspace);
  const draft = join(instances, `${MIGRATED}${name}`);
  await fs.removeFolder(draft);
  await (old ? writeDraft(stored, pathsIn(draft), old) : writeInput(stored, pathsIn(draft)));
  await fs.syncFolder(instances);
  await fs.rename(stored.paths.folder, join(kept, name));
  await fs.syncFolder(kept);
  await placeMigrated(fs, instances, name);
}

/** Gives a complete new folder the name of its instance. */
export async function placeMigrated(fs: Fs, instances: string, name: string): Promise<void> {
  await fs.rename(join(instances, `${MIGRATED}${name}`), join(instances, name));
  await fs.syncFolder(instances);
}

type Paths = StoredInstance['paths'];

/** Copies the input of an instance that never ran. The new version imports it. */
async function writeInput({ fs, paths }: StoredInstance, to: Paths): Promise<void> {
  await fs.makeFolder(to.folder);
  const inbox = await fs.read(paths.inbox);
  if (inbox) await replaceFile(fs, to.inbox, inbox);
}

async function writeDraft(stored: StoredInstance, to: Paths, old: OldInstance): Promise<void> {
  const { fs, paths: from } = stored;
  for (const folder of [to.folder, to.messages]) await fs.makeFolder(folder);
  await copyRest(from.folder, to.folder);
  const { agentName, instanceKey, createdAt, updatedAt, status, commit } = old.metadata;
  const head = { formatVersion: FORMAT_VERSION, agentName, instanceKey, createdAt };
  const place = await writeSegments(stored, to, head, old);
  await writeFile(fs, to.base, old.base);
  if (old.texts.size > 0) await fs.makeFolder(to.extensions);
  for (const [name, text] of old.texts) await writeFile(fs, to.extension(name), Buffer.from(text));
  if (old.texts.size > 0) await fs.syncFolder(to.extensions);
  await fs.syncFolder(to.messages);
  await fs.syncFolder(to.folder);
  const { version, messages, inbox, statesAlone = { count: 0, unarchived: [] } } = commit;
  const { bytes, crc } = commit.base;
  const metadata: InstanceMetadata = {
    ...head,
    checkpoint: {
      closedBy: 0,
      ...place,
      version,
      status,
      updatedAt: Date.parse(updatedAt),
      base: { bytes, crc },
      messages,
      inbox,
      extensions: Object.fromEntries(Array.from(old.texts, ([name, text]) => [name, markOf(text)])),
      statesAlone,
      answers: old.answers,
      answersRemoved: old.answersRemoved,
      letters: old.letters,
    },
  };
  await replaceFile(fs, to.metadata, encodeMetadata(metadata));
}

/** Writes a segment for each archive file. Returns the place after the last commit. */
async function writeSegments(
  stored: StoredInstance,
  to: Paths,
  head: ConstructorParameters<typeof SegmentWriter>[0],
  { files, firstSeq, unarchived, interrupted, metadata }: OldInstance,
): Promise<Pick<InstanceMetadata['checkpoint'], 'segment' | 'offset' | 'seq'>> {
  const { fs, paths } = stored;
  const first = (await firstNumber(paths)) ?? 1;
  let last = firstSeq - 1;
  for (const [index, file] of files.slice(0, -1).entries()) {
    const writer = new SegmentWriter(head, last);
    for (const turn of await readArchiveFile(stored, file)) writer.addTurn(turn);
    writer.begin(Date.parse(metadata.updatedAt));
    await writeFile(fs, numbered(to.events, first + index), writer.bytes);
    last = writer.seq;
  }
  const current = new SegmentWriter(head, last);
  for (const turn of await readArchiveFile(stored, archivePath(stored))) current.addTurn(turn);
  if (unarchived) current.addTurn(unarchived);
  current.begin(Date.parse(metadata.updatedAt));
  const {
    seq,
    bytes: { length: offset },
  } = current;
  current.addInterrupted(interrupted);
  // The current segment is closed: its state is in the checkpoint.
  await writeFile(fs, to.events, Buffer.concat([current.bytes, Uint8Array.of(CLOSED)]));
  return { segment: first + files.length - 1, offset, seq };
}

/** Returns the number of the oldest archive file that was renamed. */
async function firstNumber({ messages }: Paths): Promise<number | undefined> {
  const numbers = (await readdir(messages)).flatMap((name) => /^archive\.(\d+)\.jsonl$/.exec(name)?.[1] ?? []);
  return numbers.length === 0 ? undefined : Math.min(...numbers.map(Number));
}

async function writeFile(fs: Fs, path: string, bytes: Uint8Array): Promise<void> {
  const file = await fs.openFile(path);
  try {
    await file.append(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function copyRest(from: string, to: string): Promise<void> {
  const messages = (await readdir(join(from, 'messages'))).filter((name) => COPIED_MESSAGES.test(name));
  const options = {
    recursive: true,
    verbatimSymlinks: true,
    preserveTimestamps: true,
    mode: constants.COPYFILE_FICLONE,
  };
  for (const name of [...COPIED, ...messages.map((each) => `messages/${each}`)]) {
    await cp(join(from, name), join(to, name), options).catch(ignoreMissing);
    await syncTree(join(to, name)).catch(ignoreMissing);
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

async function syncTree(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    const isFolder = (await file.stat()).isDirectory();
    const entries = isFolder ? await readdir(path, { withFileTypes: true }) : [];
    for (const entry of entries) if (entry.isFile() || entry.isDirectory()) await syncTree(join(path, entry.name));
    await file.sync();
  } finally {
    await file.close();
  }
}
