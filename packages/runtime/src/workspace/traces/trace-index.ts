/**
 * The indexes of full trace files: `index.<number>.json` has the byte range of each block, so that a turn is found
 * without reading the traces. The index is made by the process that begins the next file. If it is missing or damaged,
 * the file is read instead, and the next process that begins a file makes the index; so is the end of a file to which a late process has appended.
 */
import type { Fs } from '../../ports/fs.ts';
import { checksum } from '../lines/checksum.ts';
import { numberedPath } from '../lines/shared-log.ts';
import { findBlocks, type TraceBlock } from './trace-blocks.ts';

export const TRACES = 'traces';

export function indexPath(folder: string, number: number): string {
  return `${folder}/index.${String(number).padStart(6, '0')}.json`;
}

interface TraceIndex {
  /** The position up to which the blocks are listed. */
  readonly bytes: number;
  readonly blocks: readonly TraceBlock[];
}

/** Returns the blocks of a trace file in order; none when it was deleted. */
export async function readBlocks(fs: Fs, folder: string, number: number): Promise<readonly TraceBlock[]> {
  const path = numberedPath(folder, TRACES, number);
  const { bytes, blocks } = (await readIndex(fs, folder, number)) ?? { bytes: 0, blocks: [] };
  const rest = await fs.read(path, bytes);
  if (rest === undefined) return [];
  return rest.length === 0 ? blocks : [...blocks, ...findBlocks(rest, bytes)];
}

/** Writes the index of each of these files that has none. */
export async function writeIndexes(fs: Fs, folder: string, numbers: readonly number[]): Promise<void> {
  for (const number of numbers) {
    if ((await fs.stat(indexPath(folder, number))) !== undefined) continue;
    const blocks = await readBlocks(fs, folder, number);
    // The last block may belong to a write that is not complete yet, so it is left to the readers.
    const last = blocks.at(-1);
    if (last === undefined) continue;
    // The two line breaks before a block belong to its beginning.
    const listed = [
      last.from - 2,
      blocks.slice(0, -1).map((block) => [block.turn, block.instance, block.from, block.to]),
    ];
    const text = JSON.stringify(listed);
    await fs.createNew(indexPath(folder, number), Buffer.from(`{"crc":${checksum(text)},"index":${text}}\n`));
    // An erasure that came after the read has found no index to remove.
    if (!(await hasBlocks(fs, folder, number, blocks))) await fs.remove(indexPath(folder, number));
  }
}

/** Returns true if the trace file still has all these blocks. */
async function hasBlocks(fs: Fs, folder: string, number: number, blocks: readonly TraceBlock[]): Promise<boolean> {
  const bytes = await fs.read(numberedPath(folder, TRACES, number));
  const found = new Set(findBlocks(bytes ?? new Uint8Array()).map(({ from }) => from));
  return blocks.every(({ from }) => found.has(from));
}

async function readIndex(fs: Fs, folder: string, number: number): Promise<TraceIndex | undefined> {
  const written = await fs.read(indexPath(folder, number));
  const text = written && Buffer.from(written).toString('utf8');
  const [, crc, listed] = /^\{"crc":(\d+),"index":(.*)\}\n$/s.exec(text ?? '') ?? [];
  if (listed === undefined || checksum(listed) !== Number(crc)) return undefined;
  // Safe: the checksum proves that `writeIndexes` wrote this text.
  const [bytes, blocks] = JSON.parse(listed) as [number, [string, string, number, number][]];
  return { bytes, blocks: blocks.map(([turn, instance, from, to]) => ({ turn, instance, from, to })) };
}
