/** The contents of a changeset's files, old and new, each in a file that is named by its SHA-256. */
import { GoondanError } from '@goondan/types';
import { sha256 } from '../../json/sha256.ts';
import { replaceFile } from '../lines/replace-file.ts';
import type { ChangesetRecord } from './changeset-record.ts';
import type { ChangesetStore } from './changeset-store.ts';

/** Stores a content, unless it is there; durable when it resolves. Returns its digest. */
export async function storeContent(store: ChangesetStore, id: string, bytes: Uint8Array): Promise<string> {
  const digest = sha256(bytes);
  if ((await findContent(store, id, digest)) === undefined) {
    await replaceFile(store.fs, store.paths.content(id, digest), bytes);
  }
  return digest;
}

/** Returns a content, or `undefined` if it is missing or damaged. */
export async function findContent(store: ChangesetStore, id: string, digest: string): Promise<Uint8Array | undefined> {
  const path = store.paths.content(id, digest);
  // A read of a pipe would never end.
  if ((await store.fs.look(path))?.kind !== 'file') return undefined;
  const bytes = await store.fs.read(path);
  return bytes !== undefined && sha256(bytes) === digest ? bytes : undefined;
}

/** Returns a content. **Errors** — `E_STORE_CORRUPT` if it is missing or damaged. */
export async function readContent(store: ChangesetStore, id: string, digest: string): Promise<Uint8Array> {
  const bytes = await findContent(store, id, digest);
  if (bytes !== undefined) return bytes;
  const path = store.paths.content(id, digest);
  throw new GoondanError('E_STORE_CORRUPT', `${path}, a file of changeset ${id}, is missing or damaged.`, {
    suggestion: `Restore it from a backup. To give the changeset up, compare the files of the bundle by hand, then delete ${store.paths.changeset(id)}.`,
  });
}

/** Deletes a content that no edit needs any more. */
export async function dropContent(
  store: ChangesetStore,
  record: ChangesetRecord,
  digest: string | null,
): Promise<void> {
  if (digest === null || record.edits.some(({ before, after }) => before === digest || after === digest)) return;
  await store.fs.remove(store.paths.content(record.id, digest));
}
