/**
 * Packs a bundle for a deployment, and unpacks it at a node. Values of the environment, installed packages, the files of
 * Git and caches are not part of a bundle: every node has its own.
 */
import { relative, sep } from 'node:path';
import { packFolder, type PackedFolder, type PackLimits, unpackFolder } from './pack-folder.ts';

/** A larger bundle has data that does not belong to it. */
export const bundleLimits: PackLimits = { mostFiles: 10_000, mostBytes: 64 * 1024 * 1024 };

const LEFT_OUT: ReadonlySet<string> = new Set(['.git', '.goondan', '.cache', '.DS_Store', 'node_modules']);

function isLeftOut(name: string): boolean {
  return LEFT_OUT.has(name) || name.startsWith('.env');
}

/**
 * Packs a bundle. `leaveOut`: folders that are not a part of it, such as a state root inside the bundle.
 *
 * **Errors** — those of `packFolder`.
 */
export function packBundle(folder: string, leaveOut: readonly string[] = []): PackedFolder {
  const paths = new Set(leaveOut.map((path) => relative(folder, path).split(sep).join('/')));
  return packFolder(folder, bundleLimits, (name, path) => isLeftOut(name) || paths.has(path));
}

/** Makes the folder hold exactly this bundle, and returns its digest. **Errors** — those of `unpackFolder`. */
export function unpackBundle(bytes: Uint8Array, folder: string): string {
  return unpackFolder(bytes, folder, bundleLimits, isLeftOut);
}
