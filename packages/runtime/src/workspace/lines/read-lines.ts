/**
 * Reads sealed lines back and tells three things apart: whole lines; a torn tail, which is what a crash leaves of the
 * last write and may be cut; and damage, which no crash explains and nobody may repair in silence.
 */
import type { JsonObject } from '@goondan/types';
import { checksum } from './checksum.ts';
import { SEAL_LENGTH } from './seal-lines.ts';

export interface StoredLine {
  readonly seq: number;
  readonly start: number;
  /** Without `b` and `crc`, which belong to the place where the line stood. */
  readonly fields: JsonObject;
}

export interface ReadLines {
  readonly lines: readonly StoredLine[];
  /** Where the whole lines end. What comes after is torn. */
  readonly end: number;
  readonly torn: boolean;
  /** What is wrong, when it is not just a torn tail. */
  readonly damage?: string;
}

const NEWLINE = 0x0a;
const SEAL = /^,"crc":"[0-9a-f]{8}"\}$/;
const decoder = new TextDecoder();

/** `from` is where a line starts; `after` is the sequence number that every line must exceed. */
export function readLines(bytes: Uint8Array, from = 0, after = -1): ReadLines {
  const lines: StoredLine[] = [];
  let start = from;
  let seq = after;
  while (start < bytes.length) {
    const stop = lineEnd(bytes, start);
    // A line without its line break was not written to the end, even if only that is missing.
    const line = stop === bytes.length ? undefined : decodeLine(bytes.subarray(start, stop), start);
    if (!line) return { ...classifyTail(bytes, start), lines, end: start };
    if (line.seq <= seq) {
      return {
        lines,
        end: start,
        torn: false,
        damage: `line ${lines.length + 1} has number ${line.seq}, after ${seq}`,
      };
    }
    lines.push(line);
    seq = line.seq;
    start = stop + 1;
  }
  return { lines, end: start, torn: false };
}

interface DecodedLine extends StoredLine {
  readonly writeStart: number;
}

function decodeLine(bytes: Uint8Array, start: number): DecodedLine | undefined {
  const text = decoder.decode(bytes);
  // All of the seal is ASCII, so that its length in bytes is its length in the text.
  const seal = text.slice(-SEAL_LENGTH);
  const bodyLength = bytes.length - SEAL_LENGTH;
  if (bodyLength < 1 || !SEAL.test(seal)) return undefined;
  if (checksum(bytes.subarray(0, bodyLength)) !== Number.parseInt(seal.slice(8, 16), 16)) return undefined;
  try {
    // The checksum says that these are the bytes sealLines wrote, so they have the shape it was given.
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
 * A crash can leave of the last write: its beginning, without a line break at the end; or a hole of zeros in it, maybe
 * with whole lines of that same write behind. A whole line of a later write proves that the bad one was once synced.
 */
function classifyTail(bytes: Uint8Array, bad: number): { torn: boolean; damage?: string } {
  let start = bad;
  while (start < bytes.length) {
    const stop = lineEnd(bytes, start);
    const line = decodeLine(bytes.subarray(start, stop), start);
    if (line && line.writeStart > bad) return { torn: false, damage: `a bad line at byte ${bad}, whole ones after it` };
    const explained = line !== undefined || stop === bytes.length || bytes.subarray(start, stop).includes(0);
    if (!explained) return { torn: false, damage: `a bad line at byte ${start}` };
    start = stop + 1;
  }
  return { torn: true };
}

function lineEnd(bytes: Uint8Array, start: number): number {
  const newline = bytes.indexOf(NEWLINE, start);
  return newline === -1 ? bytes.length : newline;
}
