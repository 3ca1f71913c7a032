import type { StoredInstance } from '../layout/instance-paths.ts';
import { corruptStore } from '../lines/corrupt-store.ts';
import { rotatedFiles } from '../lines/rotating-log.ts';
import { decodeFrame } from './frame.ts';
import { readFrames } from './read-frames.ts';
import { decodeMetadata, firstCheckpoint, type InstanceMetadata, refuseOtherInstance } from './metadata.ts';

const NEWLINE = 0x0a;

/**
 * Reads `metadata.json`. Returns `undefined` when the file does not exist. **Errors** — `E_STORE_CORRUPT`, `E_STORE_READ`.
 */
export async function readMetadata(
  stored: Omit<StoredInstance, 'address' | 'limits'>,
): Promise<InstanceMetadata | undefined> {
  const { metadata: path } = stored.paths;
  const bytes = await stored.fs.read(path);
  if (!bytes) return undefined;
  const metadata = decodeMetadata(bytes);
  if (!metadata) throw await corruptStore(stored, path, 'its checksum does not match');
  return metadata;
}

/**
 * Reads the epoch of the last owner that closed the instance with a checkpoint. Returns 0 when the metadata cannot be
 * read. A writer compares its epoch with the metadata that it has loaded.
 */
export async function readClosedBy(stored: Omit<StoredInstance, 'address' | 'limits'>): Promise<number> {
  const bytes = await stored.fs.read(stored.paths.metadata).catch(() => undefined);
  return (bytes && decodeMetadata(bytes))?.checkpoint.closedBy ?? 0;
}

export interface FoundMetadata {
  readonly metadata: InstanceMetadata;
  /** False if there is no `metadata.json` yet, and the metadata comes from the log. */
  readonly hasCheckpoint: boolean;
  /** The damage to the first frame of the log. The metadata then comes from the address and from the second frame. */
  readonly problem?: string;
}

/**
 * Reads the metadata for its owner and for other processes. Returns `undefined` when the instance does not exist.
 *
 * **Errors** — those of `readMetadata` and `readFirstMetadata`; `E_STORE_INSTANCE`.
 */
export async function readOwnMetadata(stored: StoredInstance): Promise<FoundMetadata | undefined> {
  const { address, paths } = stored;
  const metadata = await readMetadata(stored);
  const found = metadata ? { metadata, hasCheckpoint: true } : await findFirst(stored);
  if (!found) return undefined;
  if ('isHeadLost' in found) return withoutHead(stored, found);
  refuseOtherInstance(found.hasCheckpoint ? paths.metadata : paths.events, address, found.metadata);
  return found;
}

/**
 * Reads the metadata of an instance without a checkpoint from the first frame of its log. Returns `undefined` when the
 * instance does not exist.
 *
 * **Errors** — `E_STORE_CORRUPT` when there was a checkpoint, because the log was closed or has older
 * segments, and when the first frame is damaged.
 */
export async function readFirstMetadata(stored: UnknownInstance): Promise<FoundMetadata | undefined> {
  const found = await findFirst(stored);
  if (found && 'isHeadLost' in found) throw await corruptStore(stored, stored.paths.events, found.problem);
  return found;
}

type UnknownInstance = Omit<StoredInstance, 'address' | 'limits'>;

/** A log whose first frame is not intact. */
interface HeadlessLog {
  readonly isHeadLost: true;
  readonly problem: string;
  /** The first intact frame, if it has number 2. Then the damaged frame had nothing but the head. */
  readonly second?: { readonly offset: number; readonly at: number };
}

async function findFirst(stored: UnknownInstance): Promise<FoundMetadata | HeadlessLog | undefined> {
  const { fs, paths } = stored;
  const sign = await findSign(stored, await rotatedFiles(fs, paths.events));
  if (sign === undefined) return undefined;
  if (typeof sign === 'object' && !('isHeadLost' in sign)) return { metadata: sign, hasCheckpoint: false };
  // The owner may have written its first checkpoint between the reads.
  const metadata = await readMetadata(stored);
  if (metadata) return { metadata, hasCheckpoint: true };
  if (typeof sign === 'object') return sign;
  throw await corruptStore(stored, paths.metadata, `it is missing, but ${sign} exists`);
}

async function withoutHead(stored: StoredInstance, { problem, second }: HeadlessLog): Promise<FoundMetadata> {
  const { address, paths } = stored;
  if (!second) throw await corruptStore(stored, paths.events, problem);
  const { agentName, instanceKey } = address;
  const createdAt = new Date(second.at).toISOString();
  const head = { agentName, instanceKey, createdAt };
  return {
    metadata: { ...head, checkpoint: firstCheckpoint(second.offset, createdAt) },
    hasCheckpoint: false,
    problem,
  };
}

/**
 * Returns the metadata from the log, or else the damage to its first frame, or the file or folder that shows that there
 * was a conversation.
 */
async function findSign(
  { fs, paths }: Pick<StoredInstance, 'fs' | 'paths'>,
  older: readonly string[],
): Promise<InstanceMetadata | HeadlessLog | string | undefined> {
  for (const path of [...older, paths.historyStart]) if ((await fs.stat(path)) !== undefined) return path;
  const bytes = await fs.read(paths.events);
  if (!bytes) return (await fs.stat(paths.messages)) ? paths.messages : undefined;
  const { frames, damage = 'its first frame is missing', isClosed } = readFrames(bytes);
  const [first] = frames;
  if (!first) {
    // A base is written only after durable frames.
    const hasBase = ((await fs.stat(paths.base))?.size ?? 0) > 0;
    const second = isClosed || hasBase ? undefined : findSecond(bytes);
    return { isHeadLost: true, problem: damage, ...(second && { second }) };
  }
  if (!first.head || first.seq !== 1 || first.records || first.commit || isClosed) return paths.events;
  // Damage behind the first frame is found when the log is read.
  return { ...first.head, checkpoint: firstCheckpoint(bytes.indexOf(NEWLINE) + 1, first.head.createdAt) };
}

/** Finds the first intact frame. Returns `undefined` when its number is not 2. */
function findSecond(bytes: Uint8Array): HeadlessLog['second'] {
  for (let offset = bytes.indexOf(NEWLINE) + 1; offset > 0; offset = bytes.indexOf(NEWLINE, offset) + 1) {
    const stop = bytes.indexOf(NEWLINE, offset);
    const frame = stop === -1 ? undefined : decodeFrame(bytes.subarray(offset, stop));
    if (frame) return frame.seq === 2 ? { offset, at: frame.at } : undefined;
  }
  return undefined;
}
