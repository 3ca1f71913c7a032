/** Reads the trace of one turn, completely or only its beginning and end, even while it is being written. */
import type { Fs } from '../../ports/fs.ts';
import { summarise } from '../../trace/assemble-turn.ts';
import { decodeTraceLines } from '../../trace/decode-trace-lines.ts';
import type { TraceLine } from '../../trace/trace-lines.ts';
import type { TurnSummary } from '../../trace/turn-trace.ts';

/** A byte range of a file with lines of one turn. */
export interface TracePiece {
  readonly path: string;
  readonly from: number;
  readonly to: number;
  /** The beginning of each line of the turn, before the JSON of the line. */
  readonly lineStart: string;
}

/** The number of bytes to read at each end of a trace, which is enough for the first line and for the last lines. */
const END_BYTES = 16 * 1024;

export async function readTraceLines(fs: Fs, pieces: readonly TracePiece[]): Promise<TraceLine[]> {
  const lines: TraceLine[] = [];
  for (const piece of pieces) lines.push(...(await readPiece(fs, piece)));
  return lines;
}

/** Reads only the beginning and the end of the trace. */
export async function readTraceSummary(fs: Fs, pieces: readonly TracePiece[]): Promise<TurnSummary | undefined> {
  const [first] = pieces;
  const last = pieces.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const stat = await fs.stat(last.path);
  if (stat === undefined) return undefined;
  const to = Math.min(last.to, stat.size);
  const bytes = pieces.reduce((sum, piece) => sum + (piece === last ? to : piece.to) - piece.from, 0);
  if (bytes <= 2 * END_BYTES) return summarise(await readTraceLines(fs, pieces));
  const [start] = await readPiece(fs, { ...first, to: Math.min(first.to, first.from + END_BYTES) });
  const end = await readPiece(fs, { ...last, from: Math.max(last.from, to - END_BYTES), to });
  // A run that began in the unread middle of the trace is missed, but the end of the last run is always in `end`.
  return summarise([...(start === undefined ? [] : [start]), ...end]);
}

async function readPiece(fs: Fs, { path, from, to, lineStart }: TracePiece): Promise<TraceLine[]> {
  const text = new TextDecoder().decode(await fs.read(path, from, to - from));
  return decodeTraceLines(linesOfTurn(text, lineStart));
}

/** Returns the lines of one turn in a part of a file. An unreadable line stays as it is, to be counted as missing. */
function linesOfTurn(text: string, start: string): string {
  const lines = text.split('\n').flatMap((line) => {
    if (line.startsWith(start) && line.endsWith('}')) return line.slice(start.length, -1);
    return isOther(line) ? [] : line;
  });
  return lines.join('\n');
}

/**
 * Returns true for a whole line that begins a turn or belongs to another turn; for what is left between blocks where one
 * line break is damaged; and for the spaces that replace the lines of a deleted conversation.
 */
function isOther(line: string): boolean {
  return line.length === 1 || /^ +$/.test(line) || (line.endsWith('}') && otherPattern.test(line));
}

const otherPattern = /^\{"tag":"[0-9a-f]{8}","(?:turn|line)":/;
