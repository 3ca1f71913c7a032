/**
 * Creates the files of a new instance: its log with the first frame. There is no `metadata.json` before the first
 * checkpoint, and the log has all of the state until then.
 *
 * The folder of the log is renamed into place once the log is durable, with its first frame and its room. So a folder
 * without a log, and a log without a first frame, are damaged, and not new.
 */
import { dirname } from 'node:path';
import { nextOf, type StoredInstance } from '../layout/instance-paths.ts';
import { together } from '../lines/together.ts';
import type { DiskPace } from '../log-file/disk-pace.ts';
import { firstCheckpoint, type InstanceMetadata } from '../records/metadata.ts';
import { InstanceLog } from './instance-log.ts';

/** Creates the instance. The folder of the instance must exist, without a log. */
export async function createInstance(
  stored: StoredInstance,
  pace: DiskPace,
): Promise<{ readonly metadata: InstanceMetadata; readonly log: InstanceLog }> {
  const { fs, paths, address, clock } = stored;
  const { agentName, instanceKey } = address;
  const createdAt = clock.now().toISOString();
  const head = { agentName, instanceKey, createdAt };
  const folder = nextOf(paths.messages);
  await fs.makeFolder(folder);
  const draft = folder + paths.events.slice(paths.messages.length);
  const log = await InstanceLog.create(stored, pace, head, draft, async () => {
    await fs.syncFolder(folder);
    await fs.rename(folder, paths.messages);
    await together([paths.folder, dirname(paths.folder)].map((each) => fs.syncFolder(each)));
  });
  return { metadata: { ...head, checkpoint: firstCheckpoint(log.place.offset, createdAt) }, log };
}
