import type { BlobReader } from '@goondan/runtime/history';
import { describeLostFile } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';
import { harmlessText } from '../harmless-text.ts';
import { type Check, ok, warning } from './check.ts';

const name = 'files';
/** The number of files that are listed. */
const MOST_LISTED = 20;

/** Checks the images and files that conversations name. */
export async function checkFiles(blobs: Pick<BlobReader, 'findLost'>): Promise<Check> {
  try {
    const lost = await blobs.findLost();
    if (lost.length === 0) return ok(name, 'every image and file that a conversation names is stored and undamaged');
    const lines = lost.slice(0, MOST_LISTED).map((file) => harmlessText(describeLostFile(file)));
    if (lost.length > MOST_LISTED) lines.push(`and ${lost.length - MOST_LISTED} more`);
    const suggestion =
      'Send the same file again, in any conversation, and its bytes are stored anew; or copy it from a backup. Until ' +
      'then, turns that need it fail.';
    return warning(name, lines.join('\n'), suggestion);
  } catch (error) {
    if (!GoondanError.is(error)) throw error;
    return warning(name, `${error.code}: ${error.message}`, error.suggestion ?? 'See `gdn explain`.');
  }
}
