/**
 * Reads the end of the archive: its last line number and the results of the last turns. The cost does not grow with the
 * history.
 */
import type { TurnResult } from '@goondan/types';
import type { Fs } from '../../ports/fs.ts';
import { readLines, type ReadLines, type StoredLine } from '../lines/read-lines.ts';
import { rotatedFiles } from '../lines/rotating-log.ts';
import { readEndLine, reviveResult } from './archive-lines.ts';

const TAIL_BYTES = 1024 * 1024;

/**
 * Reads backwards, also into rotated files, until the limit of turns or bytes is reached. Returns `undefined` when the
 * archive does not exist.
 *
 * `last`: the number of the last line; 0 when there is none. `read`: the lines of the current file, with `end` counted
 * from its start. `finished`: results by turn id, oldest first.
 */
export async function readTail(fs: Fs, path: string, turns: number, tailBytes = TAIL_BYTES) {
  const current = await readEnd(fs, path, tailBytes, true);
  // A crash may have happened after the rotation and before the next file was created.
  const read: ReadLines = current ?? { lines: [], end: 0, torn: false };
  const older = read.damage ? [] : await rotatedFiles(fs, path);
  if (!current && older.length === 0) return undefined;
  let { lines } = read;
  let finished = lastTurns(lines, turns);
  let left = tailBytes - read.end;
  while (older.length > 0 && (lines.length === 0 || (left > 0 && finished.size < turns))) {
    const before = await readEnd(fs, older.pop() ?? '', left, lines.length === 0);
    lines = [...(before?.lines ?? []), ...lines];
    finished = lastTurns(lines, turns);
    left -= before?.end ?? 0;
  }
  return { last: lines.at(-1)?.seq ?? 0, read, finished };
}

/**
 * Reads the end of one file. If `mustBe` is true, the result includes at least the last line, however long that line
 * is.
 */
async function readEnd(fs: Fs, path: string, tailBytes: number, mustBe: boolean): Promise<ReadLines | undefined> {
  const stat = await fs.stat(path);
  if (!stat) return undefined;
  const from = Math.max(0, stat.size - tailBytes);
  const bytes = (await fs.read(path, from)) ?? new Uint8Array();
  const firstLine = from === 0 ? 0 : bytes.indexOf(0x0a) + 1;
  const read = readLines(bytes, firstLine);
  const isUseful = read.lines.length > 0 && firstLine > 0;
  if (from > 0 && !isUseful && mustBe) return readLines((await fs.read(path)) ?? new Uint8Array());
  return { ...read, end: from + read.end };
}

function lastTurns(lines: readonly StoredLine[], turns: number): Map<string, TurnResult> {
  const finished: [string, TurnResult][] = [];
  let eventLines: StoredLine[] = [];
  for (const line of lines) {
    const end = readEndLine(line);
    if (!end) {
      eventLines.push(line);
      continue;
    }
    const result = reviveResult(end, eventLines);
    if (typeof result === 'object') finished.push([end.turn, result]);
    eventLines = [];
  }
  return new Map(finished.slice(-turns));
}
