/**
 * Loads the bytes of the files to which the messages of a request refer, just before the request is built. Whoever builds
 * a request from recorded messages again loads them here, too. So a record needs only references.
 */
import { GoondanError } from '@goondan/types';
import { referencesIn } from '../../files/find-references.ts';
import type { ModelRequest } from '../model-port.ts';

/** The bytes as base64, by their SHA-256. */
export type LoadedFiles = ReadonlyMap<string, string>;

export const noFiles: LoadedFiles = new Map();

/** **Errors** — `E_FILE_UNKNOWN`; those of the store. */
export async function loadFiles({
  messages,
  readFile,
}: Pick<ModelRequest, 'messages' | 'readFile'>): Promise<LoadedFiles> {
  const digests = new Set(messages.flatMap((message) => referencesIn(message)));
  if (digests.size === 0) return noFiles;
  const loaded = new Map<string, string>();
  for (const digest of digests) {
    const bytes = await readFile?.(digest);
    if (bytes === undefined) {
      throw new GoondanError(
        'E_FILE_UNKNOWN',
        `A message refers to a file that cannot be read here: SHA-256 ${digest}.`,
      );
    }
    loaded.set(digest, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64'));
  }
  return loaded;
}
