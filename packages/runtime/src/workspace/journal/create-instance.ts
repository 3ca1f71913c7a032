/**
 * Creates the files of a new instance: its log with the first frame, and then `metadata.json`. Once `metadata.json`
 * exists, the log exists, so a missing log is never mistaken for an empty one.
 */
import type { StoredInstance } from '../layout/instance-paths.ts';
import { replaceFile } from '../lines/replace-file.ts';
import type { DiskPace } from '../log-file/disk-pace.ts';
import { encodeMetadata, FORMAT_VERSION, type InstanceMetadata } from '../records/metadata.ts';
import { refuseLostMetadata } from '../records/read-metadata.ts';
import { InstanceLog } from './instance-log.ts';

/**
 * Creates the instance; its folder must exist. **Errors** — `E_STORE_CORRUPT` when the folder has a conversation but no
 * metadata.
 */
export async function createInstance(
  stored: StoredInstance,
  pace: DiskPace,
): Promise<{ readonly metadata: InstanceMetadata; readonly log: InstanceLog }> {
  const { fs, paths, address, clock } = stored;
  await refuseLostMetadata(stored);
  for (const folder of [paths.messages, paths.scratch]) await fs.makeFolder(folder);
  const now = clock.now();
  const { agentName, instanceKey } = address;
  const head = { formatVersion: FORMAT_VERSION, agentName, instanceKey, createdAt: now.toISOString() };
  const log = await InstanceLog.open(stored, pace, head, { segment: 1, offset: 0, seq: 0 });
  try {
    // Directory entries must be durable before metadata.json, whose existence promises that they exist.
    await fs.syncFolder(paths.folder);
    const checkpoint = {
      closedBy: 0,
      ...log.place,
      seq: log.last,
      version: 0,
      status: 'idle',
      updatedAt: now.getTime(),
      base: { bytes: 0, crc: 0 },
      messages: 0,
      inbox: 0,
      extensions: {},
      statesAlone: { count: 0, unarchived: [] },
      answers: [],
      answersRemoved: [],
      letters: [],
    } as const;
    const metadata = { ...head, checkpoint };
    await replaceFile(fs, paths.metadata, encodeMetadata(metadata));
    return { metadata, log };
  } catch (error) {
    await log.close();
    throw error;
  }
}
