/**
 * Reads the trace segments that version 0.1 wrote into the folder of an instance: a file with the lines of several turns,
 * one after the other.
 *
 * - `{"n":3,"turn":"<name>","crc":…}` begins a turn, or continues it; `n` counts these lines in the segment. The checksum
 *   is of number and name, so that a damaged name is not taken for another turn.
 * - `{"n":3,"line":{…}}` is a line of that turn. It names its turn, so a damaged line concerns no other turn.
 * - `{"crc":…,"index":[["<name>",3,from,to],…]}` is the last line of a full segment: the byte range of each turn, and the
 *   checksum of the list. Without it, the ranges are found by reading the segment.
 */
import type { Fs } from '../../ports/fs.ts';
import { checksum } from '../lines/checksum.ts';

/** A turn, or a part of it, in a segment. */
export interface OldTurn {
  /** See `traceName`. */
  readonly name: string;
  readonly n: number;
  readonly from: number;
  to: number;
}

/** The number of bytes at the end of a segment in which its index is looked for. */
const INDEX_BYTES = 64 * 1024;
const NEWLINE = 10;

export function isOldSegment(name: string): boolean {
  return /^traces\.\d{6,}\.jsonl$/.test(name);
}

/** Returns the beginning of each line of a turn. */
export function oldLineStart(n: number): string {
  return `{"n":${n},"line":`;
}

/** Reads the index of a segment, or makes it from the lines. Returns `undefined` when the file was deleted. */
export async function readOldSegment(fs: Fs, path: string): Promise<readonly OldTurn[] | undefined> {
  const stat = await fs.stat(path);
  if (stat === undefined) return undefined;
  const end = await fs.read(path, Math.max(0, stat.size - INDEX_BYTES));
  if (end === undefined) return undefined;
  const written = indexOf(Buffer.from(end).toString('utf8'));
  if (written !== undefined) return written;
  const bytes = stat.size <= INDEX_BYTES ? end : await fs.read(path);
  return bytes && scanSegment(bytes);
}

function indexOf(end: string): OldTurn[] | undefined {
  const start = end.lastIndexOf('\n{"crc":') + 1;
  if (start === 0 || end.indexOf('\n', start) !== end.length - 1) return undefined;
  return decodeIndex(end.slice(start));
}

function decodeIndex(line: string): OldTurn[] | undefined {
  try {
    // Safe: every field is checked below.
    const { crc, index } = JSON.parse(line) as { crc?: unknown; index?: unknown };
    if (!Array.isArray(index) || crc !== checksum(JSON.stringify(index))) return undefined;
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
function scanSegment(bytes: Uint8Array): OldTurn[] {
  const turns: OldTurn[] = [];
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
    from = to;
  }
  return turns;
}

const firstFields = /^\{"n":(\d{1,9}),"(?:line":|turn":"([^"\\]+)","crc":(\d+)\})/;
