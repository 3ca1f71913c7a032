/** Packs the folder of a connection for a store that is elsewhere, and puts it into a folder of a node. */
import { packFolder, type PackLimits, unpackFolder } from './pack-folder.ts';

/** A connection keeps little: its place in a stream, a table of what it has seen. */
export const connectionLimits: PackLimits = { mostFiles: 1_000, mostBytes: 8 * 1024 * 1024 };
const nothing = () => false;

/** Equal files give equal bytes. **Errors** — those of `packFolder`. */
export function packConnection(folder: string): Uint8Array {
  return packFolder(folder, connectionLimits, nothing).bytes;
}

/** Makes the folder hold exactly these files. **Errors** — those of `unpackFolder`. */
export function unpackConnection(bytes: Uint8Array, folder: string): void {
  unpackFolder(bytes, folder, connectionLimits, nothing);
}
