import { sourceOfPart } from '@goondan/types';
import { readSource } from '../../files/read-source.ts';
import type { HeldUploads } from '../../ipc/connector-files.ts';
import type { HeardEvent } from '../../ipc/from-connector.ts';
import { unknownFile } from '../../store/unknown-file.ts';

/**
 * Refuses references to files that the connector has not uploaded itself: they may come from a client outside, and the
 * files may belong to conversations of others. The error is that of a file that is not stored, so that nobody can find out
 * which files are. **Errors** — `E_FILE_UNKNOWN`.
 */
export function checkUploaded({ content = [] }: HeardEvent, uploads: HeldUploads): void {
  for (const part of content) {
    if (part.type === 'text') continue;
    const source = readSource(sourceOfPart(part));
    if (source.kind === 'reference' && !uploads.has(source.digest)) throw unknownFile(source.digest);
  }
}
