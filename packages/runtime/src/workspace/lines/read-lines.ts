/**
 * Reads sealed lines and distinguishes three cases: intact lines; a torn tail, which an interrupted last write leaves
 * and which may be cut off; and damage, which a crash cannot cause and which must be reported.
 */
import type { JsonObject } from '@goondan/types';
import { checksum } from './checksum.ts';
import { SEAL_LENGTH } from './seal-lines.ts';

export interface StoredLine {
  readonly seq: number;
  readonly start: number;
  /** The fields of the line, without `b` and `crc`, which are valid only at the line's old position. */
  readonly fields: JsonObject;
}

export interface ReadLines {
  readonly lines: readonly StoredLine[];
  /** The offset after the last intact line; the bytes after it are torn. */
  readonly end: number;
  readonly torn: boolean;
  /** A description of the damage. A torn tail is not damage. */
  readonly damage?: string;
}

const NEWLINE = 0x0a;
const SEAL = /^,"crc":"[0-9a-f]{8}"\}$/;
const decoder = new TextDecoder();

/**
 * Reads lines, whose numbers must grow. `from`: the offset of the first line.
 */
export function readLines(bytes: Uint8Array, from = 0): ReadLines {
  const lines: StoredLine[] = [];
  let start = from;
  let seq = -1;
  while (start < bytes.length) {
    const stop = lineEnd(bytes, start);
    // A line without its line break was not written completely, even if only the line break is missing.
    const line = stop === bytes.length ? undefined : decodeLine(bytes.subarray(start, stop), start);
    if (!line) return { ...classifyTail(bytes, start), lines, end: start };
    if (line.seq <= seq) {
      return {
        lines,
        end: start,
        torn: false,
        damage: `line ${lines.length + 1} has number ${line.seq}, but the line before it has ${seq}`,
      };
    }
    lines.push(line);
    seq = line.seq;
    start = stop + 1;
  }
  return { lines, end: start, torn: false };
}

/**
 * Reads the intact lines of a file whose lines do not depend on each other, in the order of their numbers. Returns them
 * with the places of the other lines: 1 is the first line of the file.
 */
export function readIntactLines(bytes: Uint8Array): {
  readonly lines: readonly StoredLine[];
  readonly damaged: readonly number[];
} {
  const lines: StoredLine[] = [];
  const damaged: number[] = [];
  for (let [start, place] = [0, 1]; start < bytes.length; place += 1) {
    const stop = lineEnd(bytes, start);
    const line = decodeLine(bytes.subarray(start, stop), start);
    if (line) lines.push(line);
    else damaged.push(place);
    start = stop + 1;
  }
  return { lines: lines.toSorted((one, other) => one.seq - other.seq), damaged };
}

function decodeLine(bytes: Uint8Array, start: number): (StoredLine & { readonly writeStart: number }) | undefined {
  const text = decoder.decode(bytes);
  // The seal is ASCII, so its length in bytes is its length as text.
  const seal = text.slice(-SEAL_LENGTH);
  const bodyLength = bytes.length - SEAL_LENGTH;
  if (bodyLength < 1 || !SEAL.test(seal)) return undefined;
  if (checksum(bytes.subarray(0, bodyLength)) !== Number.parseInt(seal.slice(8, 16), 16)) return undefined;
  try {
    // Safe: the checksum proves that sealLines wrote these bytes.
    const fields = JSON.parse(text) as JsonObject;
    const { seq, b = 0 } = fields;
    if (typeof seq !== 'number' || typeof b !== 'number') return undefined;
    delete fields['b'];
    delete fields['crc'];
    return { seq, start, fields, writeStart: start - b };
  } catch {
    return undefined;
  }
}

/**
 * Classifies the bytes after the last intact line. A crash can leave two things of the last write: its beginning,
 * without a line break at the end, or a gap of zeros, possibly followed by intact lines of the same write. If an intact
 * line of a later write follows, the bad line had been synced before that write, so the file is damaged.
 */
function classifyTail(bytes: Uint8Array, bad: number): { torn: boolean; damage?: string } {
  let start = bad;
  while (start < bytes.length) {
    const stop = lineEnd(bytes, start);
    const line = decodeLine(bytes.subarray(start, stop), start);
    if (line && line.writeStart > bad)
      return { torn: false, damage: `the line at byte ${bad} is damaged, but intact lines follow it` };
    const explained = line !== undefined || stop === bytes.length || bytes.subarray(start, stop).includes(0);
    if (!explained) return { torn: false, damage: `the line at byte ${start} is damaged` };
    start = stop + 1;
  }
  return { torn: true };
}

function lineEnd(bytes: Uint8Array, start: number): number {
  const newline = bytes.indexOf(NEWLINE, start);
  return newline === -1 ? bytes.length : newline;
}
