import type { InstancePaths } from '../layout/instance-paths.ts';
import type { StorePorts } from '../store-ports.ts';
import { corruptStore } from '../lines/corrupt-store.ts';
import { decodeMetadata, type InstanceMetadata } from './metadata.ts';

/**
 * Returns `undefined` when the file does not exist. **Errors** — `E_STORE_CORRUPT`, `E_STORE_FORMAT`, `E_STORE_READ`.
 */
export async function readMetadata(ports: StorePorts, path: string): Promise<InstanceMetadata | undefined> {
  const bytes = await ports.fs.read(path);
  if (!bytes) return undefined;
  const metadata = decodeMetadata(path, bytes);
  if (!metadata) throw await corruptStore(ports, path, 'its checksum does not match');
  return metadata;
}

/**
 * Throws if an instance has a conversation but no metadata: the instance is damaged, not new. **Errors** —
 * `E_STORE_CORRUPT`.
 */
export async function refuseLostMetadata(ports: StorePorts, paths: InstancePaths): Promise<void> {
  for (const path of [paths.base, paths.events, paths.turn, paths.archive]) {
    const stat = await ports.fs.stat(path);
    if (stat && stat.size > 0) throw await corruptStore(ports, paths.metadata, `it is missing, but ${path} exists`);
  }
}
