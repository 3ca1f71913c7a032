import { GoondanError } from '@goondan/types';
import type { StoredInstance } from '../layout/instance-paths.ts';
import { corruptStore } from '../lines/corrupt-store.ts';
import { rotatedFiles } from '../lines/rotating-log.ts';
import { readFrames } from './read-frames.ts';
import { decodeMetadata, type InstanceMetadata, refuseOtherInstance } from './metadata.ts';

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
 * Reads the metadata for processes that do not own the instance. Returns `undefined` when the instance does not exist.
 *
 * **Errors** — those of `readMetadata` and `refuseLostMetadata`; `E_STORE_INSTANCE`.
 */
export async function readOwnMetadata(stored: StoredInstance): Promise<InstanceMetadata | undefined> {
  const metadata = await readMetadata(stored);
  if (metadata) refuseOtherInstance(stored.paths.metadata, stored.address, metadata);
  else await refuseLostMetadata(stored);
  return metadata;
}

/**
 * Throws if an instance has a conversation but no metadata: the instance is damaged, not new. A crash during the
 * creation leaves at most the first frame of the log. **Errors** — `E_STORE_CORRUPT`.
 */
export async function refuseLostMetadata(stored: StoredInstance): Promise<void> {
  const { fs, paths } = stored;
  const found = [paths.base, ...(await rotatedFiles(fs, paths.events))];
  for (const path of found) {
    const stat = await fs.stat(path);
    if (stat && stat.size > 0) throw await corruptStore(stored, paths.metadata, `it is missing, but ${path} exists`);
  }
  const bytes = await fs.read(paths.events);
  const read = bytes && readFrames(bytes);
  if (!read || (read.frames.length <= 1 && !read.damage)) return;
  throw await corruptStore(stored, paths.metadata, `it is missing, but ${paths.events} exists`);
}
