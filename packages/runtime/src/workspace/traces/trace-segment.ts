/**
 * The format of a trace segment: a file with the lines of several turns, one after the other.
 *
 * - `{"n":3,"turn":"<name>","crc":…}` begins a turn, or continues it; `n` counts these lines in the segment. The checksum
 *   is of number and name, so that a damaged name is not taken for another turn.
 * - `{"n":3,"line":{…}}` is a line of that turn. It names its turn, so a damaged line concerns no other turn.
 * - `{"crc":…,"index":[["<name>",3,from,to],…]}` is the last line of a full segment: the byte range of each turn, and the
 *   checksum of the list. Without it, the ranges are found by reading the segment.
 */
import type { Fs } from '../../ports/fs.ts';
import { checksum } from '../lines/checksum.ts';

/** A byte range of a file with lines of one turn. Without `n`, the file belongs to the turn alone (formats 1 and 2). */
export interface TracePiece {
  readonly path: string;
  readonly from: number;
  readonly to: number;
  readonly n?: number;
}

/** A turn, or a part of it, in a segment. */
export interface SegmentTurn {
  /** See `traceName`. */
  readonly name: string;
  readonly n: number;
  readonly from: number;
  to: number;
}

export interface SegmentIndex {
  readonly turns: readonly SegmentTurn[];
  /** The number of the next turn. */
  readonly next: number;
  readonly bytes: number;
  /** True if nothing may be appended any more. */
  readonly isFull: boolean;
}

/** The number of bytes at the end of a segment in which its index is looked for. */
const INDEX_BYTES = 64 * 1024;
const NEWLINE = 10;

const segmentPattern = /^traces\.(\d{6,})\.jsonl$/;

export function segmentName(number: number): string {
  return `traces.${String(number).padStart(6, '0')}.jsonl`;
}

/** Returns the number of a segment; `undefined` if it is not the name of one. */
export function segmentNumber(name: string): number | undefined {
  const [, digits] = segmentPattern.exec(name) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** The empty line before it keeps it apart from a line whose end is damaged. */
export function encodeTurn(n: number, name: string): string {
  return '\n' + JSON.stringify({ n, turn: name, crc: checksum(`${n} ${name}`) });
}

export function encodeLine(n: number, text: string): string {
  return `${lineStart(n)}${text}}`;
}

function lineStart(n: number): string {
  return `{"n":${n},"line":`;
}

export function encodeIndex(turns: readonly SegmentTurn[]): string {
  const index = turns.map(({ name, n, from, to }) => [name, n, from, to]);
  return JSON.stringify({ crc: checksumOf(index), index });
}

function checksumOf(index: readonly unknown[]): number {
  return checksum(JSON.stringify(index));
}

/** Returns the lines of one turn in a part of a segment. An unreadable line stays as it is, to be counted as missing. */
export function linesOfTurn(text: string, n: number): string {
  const start = lineStart(n);
  const lines = text.split('\n').flatMap((line) => {
    if (line.startsWith(start) && line.endsWith('}')) return line.slice(start.length, -1);
    return isOther(line) ? [] : line;
  });
  return lines.join('\n');
}

/** Returns true for a whole line that begins a turn, belongs to another turn, or is an index. */
function isOther(line: string): boolean {
  return line.endsWith('}') && (/^\{"n":\d+,"(?:turn|line)":/.test(line) || line.startsWith('{"crc":'));
}

/** Reads the index of a segment, or makes it from the lines. Returns `undefined` when the file was deleted. */
export async function readSegmentIndex(fs: Fs, path: string): Promise<SegmentIndex | undefined> {
  const stat = await fs.stat(path);
  if (stat === undefined) return undefined;
  const end = await fs.read(path, Math.max(0, stat.size - INDEX_BYTES));
  if (end === undefined) return undefined;
  const written = indexOf(Buffer.from(end).toString('utf8'), stat.size);
  if (written !== undefined) return written;
  const bytes = stat.size <= INDEX_BYTES ? end : await fs.read(path);
  return bytes && scanSegment(bytes);
}

function indexOf(end: string, bytes: number): SegmentIndex | undefined {
  const start = end.lastIndexOf('\n{"crc":') + 1;
  if (start === 0 || end.indexOf('\n', start) !== end.length - 1) return undefined;
  const turns = decodeIndex(end.slice(start));
  return turns && { turns, next: turns.length, bytes, isFull: true };
}

function decodeIndex(line: string): SegmentTurn[] | undefined {
  try {
    // Safe: every field is checked below.
    const { crc, index } = JSON.parse(line) as { crc?: unknown; index?: unknown };
    if (!Array.isArray(index) || crc !== checksumOf(index)) return undefined;
    const turns = index.map((entry: unknown) => {
      const [name, n, from, to]: unknown[] = Array.isArray(entry) ? entry : [];
      const isWhole = typeof name === 'string' && typeof n === 'number' && typeof from === 'number';
      return isWhole && typeof to === 'number' ? { name, n, from, to } : undefined;
    });
    return turns.every((turn) => turn !== undefined) ? turns : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Finds the turns of a segment without an index. The numbers of turns only grow, so a line with another number than the
 * turn before it is damaged. A turn ends with its last readable line.
 */
function scanSegment(bytes: Uint8Array): SegmentIndex {
  const turns: SegmentTurn[] = [];
  let next = 0;
  for (let from = 0; from < bytes.length;) {
    const newline = bytes.indexOf(NEWLINE, from);
    const to = newline === -1 ? bytes.length : newline + 1;
    // Long lines are not decoded: their beginning says which turn they belong to.
    const begin = Buffer.from(bytes.buffer, bytes.byteOffset + from, Math.min(to - from, 600)).toString('utf8');
    const [, digits, name, crc] = firstFields.exec(begin) ?? [];
    const n = Number(digits ?? Number.NaN);
    const current = turns.at(-1);
    const beginsTurn = name !== undefined && n > (current?.n ?? -1) && checksum(`${n} ${name}`) === Number(crc);
    if (beginsTurn) turns.push({ name, n, from, to });
    else if (n === current?.n) current.to = to;
    if (n >= next) next = n + 1;
    from = to;
  }
  return { turns, next, bytes: bytes.length, isFull: false };
}

const firstFields = /^\{"n":(\d{1,9}),"(?:line":|turn":"([^"\\]+)","crc":(\d+)\})/;
