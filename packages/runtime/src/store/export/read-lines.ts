/** Reads the frames of an instance as the lines that they are in its files, segment by segment. */
import type { StoredInstance } from '../../workspace/layout/instance-paths.ts';
import { corruptStore } from '../../workspace/lines/corrupt-store.ts';
import { countNumbers, type Frame } from '../../workspace/records/frame.ts';
import { readFrames } from '../../workspace/records/read-frames.ts';
import { listSegments } from '../../workspace/records/segments.ts';

const NEWLINE = 0x0a;

export interface ExportedLine {
  /** The numbers of its first and of its last record or commit. */
  readonly seq: number;
  readonly last: number;
  /** The text, without its line break. */
  readonly line: string;
  readonly frame: Frame;
}

/** Yields the lines, oldest first. Nobody may write the files meanwhile. **Errors** — `E_STORE_CORRUPT`, `E_STORE_READ`. */
export async function* readExportedLines(stored: StoredInstance): AsyncGenerator<ExportedLine> {
  let next: number | undefined;
  for (const { path, isCurrent } of await listSegments(stored)) {
    const bytes = (await stored.fs.read(path)) ?? new Uint8Array();
    const read = readFrames(bytes, 0, next);
    let start = 0;
    for (const frame of read.frames) {
      const end = bytes.indexOf(NEWLINE, start);
      const line = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');
      yield { seq: frame.seq, last: frame.seq + countNumbers(frame) - 1, line, frame };
      start = end + 1;
    }
    const isCut = isCurrent ? !read.hasRoom && read.end > 0 : read.torn;
    const problem = read.damage ?? (isCut ? 'its end is missing' : undefined);
    if (problem !== undefined) throw await corruptStore(stored, path, problem);
    next = read.frames.length === 0 ? next : read.next;
  }
}
