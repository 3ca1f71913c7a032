/**
 * The format of the trace files of a workspace, to which all its processes append.
 *
 * A write has a block for each of its turns. A block begins with two line breaks and
 * `{"tag":"9f31c2aa","turn":"<name>","instance":"<agent>~<key>"}`, and has lines `{"tag":"9f31c2aa","line":{…}}`. The tag
 * is the checksum of turn and instance, so a damaged beginning is not taken for another turn. Each line has the tag of
 * its turn, so a damaged line concerns no other turn.
 */
import { checksum } from '../lines/checksum.ts';

/** A part of a turn, and its byte range in the file. */
export interface TraceBlock {
  /** See `traceName`. */
  readonly turn: string;
  /** The name of the instance's folder. */
  readonly instance: string;
  readonly from: number;
  readonly to: number;
}

const MARK = Buffer.from('\n\n{"tag":"');
const BREAKS = Buffer.from('\n\n');
const headerPattern = /^\{"tag":"([0-9a-f]{8})","turn":"([^"\\]+)","instance":"([^"\\]+)"\}$/;

export function blockTag(turn: string, instance: string): string {
  return checksum(`${turn} ${instance}`).toString(16).padStart(8, '0');
}

export function encodeHeader(tag: string, turn: string, instance: string): string {
  return `\n\n{"tag":"${tag}","turn":"${turn}","instance":"${instance}"}\n`;
}

/** Returns the beginning of each line of a block; its end is `}` and a line break. */
export function lineStart(tag: string): string {
  return `{"tag":"${tag}","line":`;
}

/** Finds the blocks of a file, or of its end. `offset`: the position of the first byte in the file. */
export function findBlocks(given: Uint8Array, offset = 0): TraceBlock[] {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  const blocks: TraceBlock[] = [];
  for (let at = bytes.indexOf(MARK); at !== -1;) {
    const start = at + BREAKS.length;
    const lines = bytes.indexOf(10, start);
    if (lines === -1) break;
    const [, tag, turn, instance] = headerPattern.exec(bytes.toString('utf8', start, lines)) ?? [];
    at = bytes.indexOf(MARK, lines);
    if (turn === undefined || instance === undefined || tag !== blockTag(turn, instance)) continue;
    const breaks = bytes.indexOf(BREAKS, lines);
    // The first of the two line breaks ends the last line of the block.
    blocks.push({ turn, instance, from: offset + start, to: offset + (breaks === -1 ? bytes.length : breaks + 1) });
  }
  return blocks;
}
