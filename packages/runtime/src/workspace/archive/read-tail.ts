/** The end of the archive: how far it goes, and how the last turns ended. Costs the end, not the history. */
import type { TurnResult } from '@goondan/types';
import type { Fs } from '../../ports/fs.ts';
import { readLines, type ReadLines, type StoredLine } from '../lines/read-lines.ts';
import { rotatedFiles } from '../lines/rotating-log.ts';
import { readEndLine, reviveResult } from './archive-lines.ts';

export interface ArchiveTail {
  /** The number of the last line; 0 when there is none. */
  readonly last: number;
  /** Of the file that is being written, with `end` counted from its start. */
  readonly read: ReadLines;
  /** By turn id, oldest first. */
  readonly finished: Map<string, TurnResult>;
}

const TAIL_BYTES = 1024 * 1024;

/** `undefined` when there is no archive. */
export async function readTail(
  fs: Fs,
  path: string,
  turns: number,
  tailBytes = TAIL_BYTES,
): Promise<ArchiveTail | undefined> {
  const current = await readEnd(fs, path, tailBytes);
  if (current && (current.lines.length > 0 || current.damage)) return tailOf(current, current.lines, turns);
  // Nothing in it, or a crash came after it was put away and before the next one was begun.
  const older = (await rotatedFiles(fs, path)).at(-1);
  const before = older === undefined ? undefined : await readEnd(fs, older, tailBytes);
  if (!current && !before) return undefined;
  return tailOf(current ?? { lines: [], end: 0, torn: false }, before?.lines ?? [], turns);
}

function tailOf(read: ReadLines, lines: readonly StoredLine[], turns: number): ArchiveTail {
  return { last: lines.at(-1)?.seq ?? 0, read, finished: lastTurns(lines, turns) };
}

async function readEnd(fs: Fs, path: string, tailBytes: number): Promise<ReadLines | undefined> {
  const stat = await fs.stat(path);
  if (!stat) return undefined;
  const from = Math.max(0, stat.size - tailBytes);
  const bytes = (await fs.read(path, from)) ?? new Uint8Array();
  const firstLine = from === 0 ? 0 : bytes.indexOf(0x0a) + 1;
  const read = readLines(bytes, firstLine);
  const isUseful = read.lines.length > 0 && firstLine > 0;
  if (from > 0 && !isUseful) return readLines((await fs.read(path)) ?? new Uint8Array());
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
    if (result && result !== 'reset') finished.push([end.turn, result]);
    eventLines = [];
  }
  return new Map(finished.slice(-turns));
}
