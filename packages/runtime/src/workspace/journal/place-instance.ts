/**
 * Creates a complete instance with its first commit. The files are written into a draft folder, which is not listed as
 * an instance, and the folder is then renamed. After a crash the instance exists completely or not at all. A sweep
 * removes draft folders that were left.
 */
import { dirname } from 'node:path';
import { newUuid } from '../../ports/ids.ts';
import { draftFolder, pathsIn, type StoredInstance } from '../layout/instance-paths.ts';
import type { DiskPace } from '../log-file/disk-pace.ts';
import { placeExtensions, prepareExtensions } from '../records/extension-files.ts';
import { LogState } from '../records/log-state.ts';
import { readLog } from '../records/read-log.ts';
import { writeCheckpoint } from './checkpoint.ts';
import { createInstance } from './create-instance.ts';
import { removeAside } from './delete-instance.ts';
import { type ForkedConversation, planForkCommit } from './plan-fork.ts';

/**
 * Creates the instance; nothing may exist at its path. Durable when it resolves. **Errors** — those of the disk; the
 * caller then has to check whether the instance exists.
 */
export async function placeInstance(stored: StoredInstance, pace: DiskPace, fork: ForkedConversation): Promise<void> {
  const { fs, paths } = stored;
  const instances = dirname(paths.folder);
  const draft = { ...stored, paths: pathsIn(draftFolder(instances, newUuid())) };
  try {
    await writeDraft(draft, pace, fork);
    await fs.rename(draft.paths.folder, paths.folder);
  } catch (error) {
    await removeAside(stored, draft.paths.folder);
    throw error;
  }
  await fs.syncFolder(instances);
}

/**
 * Writes the draft folder. When the promise resolves, everything except the directory entry of the folder is durable.
 */
async function writeDraft(draft: StoredInstance, pace: DiskPace, fork: ForkedConversation): Promise<void> {
  await draft.fs.makeFolder(draft.paths.folder);
  const { metadata, log } = await createInstance(draft, pace);
  try {
    const state = new LogState(metadata.checkpoint);
    const at = draft.clock.now().getTime();
    const { turn, texts, states, commit } = planForkCommit(state, fork, at);
    await prepareExtensions(draft, states.texts, states.long);
    await log.append({ turn, at, commit }, texts, true);
    await placeExtensions(draft, states.long);
    const read = await readLog(draft);
    if (!read || read.damage) throw new Error(`${draft.paths.folder} cannot be read`);
    const input = { before: metadata, turns: read.turns, state: read.state, texts: states.texts, place: log.place };
    await writeCheckpoint(draft, { ...input, closedBy: 0 });
    await log.trim();
  } finally {
    await log.close();
  }
}
