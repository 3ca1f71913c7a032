import { GoondanError } from '@goondan/types';
import { unlessThrows } from '../../ports/unless-throws.ts';
import type { Fs } from '../../ports/fs.ts';
import type { StoredInstance } from '../layout/instance-paths.ts';
import { corruptStore } from '../lines/corrupt-store.ts';
import { rotatedFiles } from '../lines/rotating-log.ts';
import { readFrames } from './read-frames.ts';
import { decodeMetadata, firstCheckpoint, type InstanceMetadata, refuseOtherInstance } from './metadata.ts';

const NEWLINE = 0x0a;

/**
 * Reads `metadata.json`. Returns `undefined` when the file does not exist. **Errors** — `E_STORE_CORRUPT`,
 * `E_STORE_FORMAT`, `E_STORE_READ`.
 */
export async function readMetadata(
  stored: Omit<StoredInstance, 'address' | 'limits'>,
): Promise<InstanceMetadata | undefined> {
  const { metadata: path } = stored.paths;
  const bytes = await stored.fs.read(path);
  if (!bytes) return undefined;
  const metadata = await decode(stored, bytes);
  if (!metadata) throw await corruptStore(stored, path, 'its checksum does not match');
  return metadata;
}

/** Decodes the metadata. If the instance was not migrated, because it is damaged, the error names the damaged file. */
async function decode(
  { fs, paths }: Pick<StoredInstance, 'fs' | 'paths'>,
  bytes: Uint8Array,
): Promise<InstanceMetadata | undefined> {
  try {
    return decodeMetadata(paths.metadata, bytes);
  } catch (cause) {
    const problem = await fs.read(paths.migrationProblem);
    if (!problem) throw cause;
    const message = `${paths.folder} stays in format 1: ${new TextDecoder().decode(problem)}`;
    throw new GoondanError('E_STORE_FORMAT', message, { suggestion: RESTORE_OLD, cause });
  }
}

const RESTORE_OLD =
  'Restore the damaged file from a backup, then start the swarm again: the start migrates this conversation.';

/**
 * Reads the epoch of the last owner that closed the instance with a checkpoint. Returns 0 when the metadata cannot be
 * read: then nobody can open the instance, and so nobody writes with an epoch that is too low.
 */
export async function readClosedBy(stored: Omit<StoredInstance, 'address' | 'limits'>): Promise<number> {
  const bytes = await stored.fs.read(stored.paths.metadata).catch(() => undefined);
  return (bytes && unlessThrows(() => decodeMetadata(stored.paths.metadata, bytes)))?.checkpoint.closedBy ?? 0;
}

export interface FoundMetadata {
  readonly metadata: InstanceMetadata;
  /** False if there is no `metadata.json` yet, and the metadata comes from the log. */
  readonly hasCheckpoint: boolean;
}

/**
 * Reads the metadata for its owner and for other processes. Returns `undefined` when the instance does not exist.
 *
 * **Errors** — those of `readMetadata` and `readFirstMetadata`; `E_STORE_INSTANCE`.
 */
export async function readOwnMetadata(stored: StoredInstance): Promise<FoundMetadata | undefined> {
  const { address, paths } = stored;
  const metadata = await readMetadata(stored);
  const found = metadata ? { metadata, hasCheckpoint: true } : await readFirstMetadata(stored);
  if (found) refuseOtherInstance(found.hasCheckpoint ? paths.metadata : paths.events, address, found.metadata);
  return found;
}

/**
 * Reads the metadata of an instance without a checkpoint from the first frame of its log. Returns `undefined` when the
 * log has no frame, as a crash during the creation leaves it.
 *
 * **Errors** — `E_STORE_CORRUPT` when there was a checkpoint, because the log was closed or has older segments, and when
 * the log is damaged.
 */
export async function readFirstMetadata(
  stored: Omit<StoredInstance, 'address' | 'limits'>,
): Promise<FoundMetadata | undefined> {
  const { fs, paths } = stored;
  const sign = await findSign(stored, await rotatedFiles(fs, paths.events));
  if (typeof sign === 'object') return { metadata: sign, hasCheckpoint: false };
  if (sign === undefined) return undefined;
  // The owner may have written its first checkpoint between the reads.
  const metadata = await readMetadata(stored);
  if (metadata) return { metadata, hasCheckpoint: true };
  throw await corruptStore(stored, paths.metadata, `it is missing, but ${sign} exists`);
}

/** Returns the metadata from the log, or else the file or folder that shows that there was a conversation. */
async function findSign(
  { fs, paths }: Pick<StoredInstance, 'fs' | 'paths'>,
  older: readonly string[],
): Promise<InstanceMetadata | string | undefined> {
  for (const path of [...older, paths.historyStart]) if ((await fs.stat(path)) !== undefined) return path;
  const bytes = await fs.read(paths.events);
  if (!bytes) return (await isLogLost(fs, paths.messages)) ? paths.messages : undefined;
  const { frames, torn, damage, hasRoom, isClosed } = readFrames(bytes);
  const [first] = frames;
  if (first?.head && first.seq === 1 && !isClosed) {
    // Damage behind the first frame is found when the log is read.
    return { ...first.head, checkpoint: firstCheckpoint(bytes.indexOf(NEWLINE) + 1, first.head.createdAt) };
  }
  if (first || damage || !(torn || hasRoom)) return paths.events;
  // A base is written only after durable frames.
  return (await fs.stat(paths.base))?.size ? paths.base : undefined;
}

/** Returns true if the folder of the log exists. An older version kept other files there, before there was a log. */
async function isLogLost(fs: Fs, messages: string): Promise<boolean> {
  const names = await fs.list(messages);
  return names !== undefined && !names.some((name) => name.startsWith('runtime-events'));
}
