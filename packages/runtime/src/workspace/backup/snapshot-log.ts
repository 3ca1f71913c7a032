/**
 * Reads a log that its owner may be writing: lines, and behind them room, which is zeros. The result has room, so a
 * reader does not mistake the moment of the copy for damage. It ends after a whole line, unless the owner is in the
 * middle of one; a reader takes the beginning of a line for a torn end.
 *
 * The file is read twice. The owner writes one line after the other, and never changes a line. So when the first read has
 * seen a part of a line, the second read has all lines before it, even if the first one was too early for some of them.
 * Nothing that the first read has seen is left out, so damage stays visible.
 */
import type { Fs } from '../../ports/fs.ts';
import { endOfContent } from '../records/torn-end.ts';

const NEWLINE = 0x0a;
const ROOM = new Uint8Array(1);

/** Returns `undefined` when the file does not exist. A file that was cut off is returned as it is. */
export async function snapshotLog(fs: Fs, path: string): Promise<Uint8Array | undefined> {
  const first = await fs.read(path);
  const second = first && (await fs.read(path));
  if (!second) return undefined;
  const seen = endOfContent(first);
  const end = Math.max(seen, seen === 0 ? 0 : second.indexOf(NEWLINE, seen - 1) + 1);
  // Without a byte behind the content, the file was cut off or closed. A loss of power leaves zeros inside the content,
  // and the size of the file tells where.
  if (second.length <= end || second.subarray(0, end).includes(0)) return second;
  return Buffer.concat([second.subarray(0, end), ROOM]);
}
