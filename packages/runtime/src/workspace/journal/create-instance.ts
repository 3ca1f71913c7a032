/**
 * Creates the files of a new instance. `metadata.json` is created last. Once it exists, all other files exist, so a
 * missing file is never mistaken for an empty one.
 */
import type { StoredInstance } from '../layout/instance-paths.ts';
import { replaceFile } from '../lines/replace-file.ts';
import { closeInstanceFiles, openInstanceFiles } from './instance-files.ts';
import { encodeMetadata, newMetadata, type InstanceMetadata } from '../records/metadata.ts';
import { refuseLostMetadata } from '../records/read-metadata.ts';

/**
 * Creates the instance; its folder must exist. **Errors** — `E_STORE_CORRUPT` when the folder has a conversation but no
 * metadata.
 */
export async function createInstance(stored: StoredInstance): Promise<InstanceMetadata> {
  const { fs, paths, address, clock } = stored;
  await refuseLostMetadata(stored);
  for (const folder of [paths.messages, paths.extensions, paths.scratch]) await fs.makeFolder(folder);
  await closeInstanceFiles(await openInstanceFiles(stored));
  for (const path of [paths.outbox, paths.deadLetters]) await (await fs.openFile(path)).close();
  // Directory entries must be durable before metadata.json, whose existence promises that they exist.
  await fs.syncFolder(paths.messages);
  await fs.syncFolder(paths.folder);
  const metadata = newMetadata(address, clock.now());
  await replaceFile(fs, paths.metadata, encodeMetadata(metadata));
  return metadata;
}
