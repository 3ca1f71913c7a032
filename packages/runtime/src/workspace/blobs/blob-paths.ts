/**
 * The files in which a workspace keeps the bytes of images and files:
 *
 * | path below `blobs/`       | holds                                                                   |
 * | ------------------------- | ----------------------------------------------------------------------- |
 * | `data/<sha256>`           | the bytes                                                               |
 * | `uses/<owner>/<sha256>`   | an empty file: the owner names these bytes                              |
 * | `….new` in `uses/<owner>` | the same, while nothing durable names the bytes yet                     |
 * | `data/<sha256>.removed`   | bytes that are about to be removed                                      |
 */
import { blobsFolder } from '../layout/instance-paths.ts';

export const NEW = '.new';
export const REMOVED = '.removed';
/** The beginning of an owner's name that is not a conversation. */
export const UPLOAD = '.upload-';
/** A name in the folder of an owner. Any other name is a draft that a crash left. */
const USE = /^([0-9a-f]{64})(?:\.new)?$/;

export function blobPaths(workspace: string) {
  const root = blobsFolder(workspace);
  return { root, data: `${root}/data`, uses: `${root}/uses` };
}

export function isUse(name: string): boolean {
  return USE.test(name);
}

/** Returns the digest of a use. */
export function digestOfUse(name: string): string {
  return name.endsWith(NEW) ? name.slice(0, -NEW.length) : name;
}

/** Returns the first value that `look` finds: removed bytes may be moved back between two looks. */
export async function lookForBytes<Value>(path: string, look: (path: string) => Promise<Value>): Promise<Value> {
  return (await look(path)) ?? (await look(`${path}${REMOVED}`)) ?? look(path);
}
