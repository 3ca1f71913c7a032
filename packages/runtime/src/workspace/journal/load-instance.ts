/**
 * Opens the files of an instance after any kind of crash. It makes everything durable that a killed process may have left
 * only in memory, cuts off a torn end, and finishes an interrupted checkpoint. The log of an uncommitted turn is kept.
 * For damage that a crash cannot cause, it throws `E_STORE_CORRUPT` and changes nothing.
 */
import { dirname } from 'node:path';
import type { StoredInstance } from '../layout/instance-paths.ts';
import { corruptStore } from '../lines/corrupt-store.ts';
import { together } from '../lines/together.ts';
import type { DiskPace } from '../log-file/disk-pace.ts';
import { readStates } from '../records/extension-files.ts';
import { FinishedTurns } from '../records/finished-turns.ts';
import { finishedTurns, LogState } from '../records/log-state.ts';
import type { InstanceMetadata } from '../records/metadata.ts';
import { readBaseFile } from '../records/read-base.ts';
import { readFinished } from '../records/read-finished.ts';
import { corruptLog, readLog, type ReadLog } from '../records/read-log.ts';
import { finishCheckpoint } from './checkpoint.ts';
import { createInstance } from './create-instance.ts';
import { InstanceLog } from './instance-log.ts';

export interface LoadedInstance {
  readonly metadata: InstanceMetadata;
  /** False while the instance has no `metadata.json`. */
  readonly hasCheckpoint: boolean;
  readonly state: LogState;
  /** The states by extension name. */
  readonly texts: ReadonlyMap<string, string>;
  readonly finished: FinishedTurns;
  readonly log: InstanceLog;
}

/**
 * Loads an instance, and creates it if it does not exist. Its folder must exist and be locked.
 *
 * **Errors** — `E_STORE_CORRUPT`, `E_STORE_INSTANCE`; those of the disk.
 */
export async function loadInstance(stored: StoredInstance, pace: DiskPace): Promise<LoadedInstance> {
  const found = await readLog(stored);
  if (found) return loadFound(stored, pace, found);
  const { metadata, log } = await createInstance(stored, pace);
  const state = new LogState(metadata.checkpoint);
  const finished = new FinishedTurns(stored.limits);
  return { metadata, hasCheckpoint: false, state, log, texts: new Map(), finished };
}

async function loadFound(stored: StoredInstance, pace: DiskPace, found: ReadLog): Promise<LoadedInstance> {
  const { paths, limits } = stored;
  const { metadata, hasCheckpoint, state, turns, current, damage } = found;
  if (damage) throw await corruptLog(stored, damage);
  const base = await readBaseFile(stored, metadata.checkpoint.base);
  if (!base) throw await corruptStore(stored, paths.base, 'it does not match the checkpoint');
  const { texts, toRename, lost } = await readStates(stored, state.states);
  const [lostName] = lost;
  if (lostName !== undefined)
    throw await corruptStore(stored, paths.extension(lostName), 'its checksum does not match');
  const finished = new FinishedTurns(limits, await readFinished(stored, metadata.checkpoint));
  for (const turn of turns) for (const ended of finishedTurns(turn)) finished.add(...ended);
  await makeNamesDurable(stored);
  const log = await openLog(stored, pace, found);
  // A new segment has a first frame.
  state.seq = log.last;
  try {
    if (current.read?.torn) {
      const message = 'cut off the last frames, whose write a crash had interrupted';
      stored.warn({ path: paths.events, message });
    }
    await finishCheckpoint(stored, base.isNext, toRename);
    return { metadata, hasCheckpoint, state, texts, finished, log };
  } catch (error) {
    await log.close();
    throw error;
  }
}

function openLog(stored: StoredInstance, pace: DiskPace, { metadata, state, current }: ReadLog): Promise<InstanceLog> {
  const { agentName, instanceKey, createdAt } = metadata;
  const head = { agentName, instanceKey, createdAt };
  const { number: segment } = current.segment;
  const { end: offset = 0, durableEnd = 0 } = current.read ?? {};
  return InstanceLog.open(stored, pace, head, { segment, offset, durableEnd, seq: state.seq });
}

/**
 * Syncs the directories before any file is created or renamed. Otherwise a power loss could undo an earlier rename and
 * mix up the old and the new file.
 */
async function makeNamesDurable({ fs, paths }: StoredInstance): Promise<void> {
  const folders = [paths.messages, paths.folder, dirname(paths.folder)];
  if (await fs.stat(paths.extensions)) folders.push(paths.extensions);
  await together(folders.map((folder) => fs.syncFolder(folder)));
}
