/**
 * The files in which a workspace keeps the bytes of images and files:
 *
 * | path below `blobs/`       | holds                                                                   |
 * | ------------------------- | ----------------------------------------------------------------------- |
 * | `data/<sha256>`           | the bytes                                                               |
 * | `uses/<owner>/<sha256>`   | an empty file: the owner names these bytes                              |
 * | `….new` in `uses/<owner>` | the same, while nothing durable names the bytes yet                     |
 * | `data/<sha256>.removed`   | bytes that are about to be removed                                      |
 *
 * A crash may leave drafts of the first two. Any other name belongs to somebody else, and is never removed.
 */
import { blobsFolder } from '../layout/instance-paths.ts';

export const NEW = '.new';
export const REMOVED = '.removed';
/** The beginning of an owner's name that is not a conversation. */
export const UPLOAD = '.upload-';
/** The owner of bytes that accepted input names, if their use was lost. */
export const INBOX = '.inbox';
const USE = /^[0-9a-f]{64}(?:\.new)?$/;
const DRAFT_OF_USE = /^[0-9a-f]{64}(?:\.new)?\.[0-9a-f-]{36}$/;
const BYTES = /^[0-9a-f]{64}(?:\.removed)?$/;
const DRAFT_OF_BYTES = /^\.[0-9a-f-]{36}$/;

export function blobPaths(workspace: string) {
  const root = blobsFolder(workspace);
  return { root, data: `${root}/data`, uses: `${root}/uses` };
}

export function isUse(name: string): boolean {
  return USE.test(name);
}

/** Returns true if a name in the folder of an owner is a draft that a crash left. */
export function isDraftOfUse(name: string): boolean {
  return DRAFT_OF_USE.test(name);
}

/** Returns true if a name in `uses` is that of an owner. */
export function isOwner(name: string): boolean {
  return name.includes('~') || name.startsWith(UPLOAD) || name === INBOX;
}

/** Returns true if a name in `data` is that of bytes, also if they are about to be removed. */
export function isBytes(name: string): boolean {
  return BYTES.test(name);
}

export function isDraftOfBytes(name: string): boolean {
  return DRAFT_OF_BYTES.test(name);
}

/** Returns the digest of bytes. */
export function digestOfBytes(name: string): string {
  return name.endsWith(REMOVED) ? name.slice(0, -REMOVED.length) : name;
}

/** Returns the digest of a use. */
export function digestOfUse(name: string): string {
  return name.endsWith(NEW) ? name.slice(0, -NEW.length) : name;
}

/** Returns the first value that `look` finds: removed bytes may be moved back between two looks. */
export async function lookForBytes<Value>(path: string, look: (path: string) => Promise<Value>): Promise<Value> {
  return (await look(path)) ?? (await look(`${path}${REMOVED}`)) ?? look(path);
}
