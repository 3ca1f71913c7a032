import type { StorePorts } from '../store-ports.ts';
import { corruptStore } from '../lines/corrupt-store.ts';
import { decodeMetadata, type InstanceMetadata } from './metadata.ts';

/** `undefined` when there is none. **Errors** — `E_STORE_CORRUPT`, `E_STORE_FORMAT`, `E_STORE_READ`. */
export async function readMetadata(ports: StorePorts, path: string): Promise<InstanceMetadata | undefined> {
  const bytes = await ports.fs.read(path);
  if (!bytes) return undefined;
  const metadata = decodeMetadata(path, bytes);
  if (!metadata) throw await corruptStore(ports, path, 'its checksum does not fit');
  return metadata;
}
