// Searches the memory and the sockets of a process. Linux only.
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from 'node:fs';

const PIECE = 4 * 1024 * 1024;
const REGION = /^([0-9a-f]+)-([0-9a-f]+) (\S+).*\n(?:[A-Z].*\n)*?Rss: +(\d+) kB$/gm;

/** Lists the texts that are in the writable memory of a process, as UTF-8 or as UTF-16. */
export function findInMemory(pid: number, texts: readonly string[]): string[] {
  const found = new Set<string>();
  const needles = texts.flatMap((text) => [
    { text, bytes: Buffer.from(text, 'utf8') },
    { text, bytes: Buffer.from(text, 'utf16le') },
  ]);
  const overlap = Math.max(...needles.map(({ bytes }) => bytes.length));
  const buffer = Buffer.alloc(PIECE + overlap);
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  try {
    for (const { from, to } of regionsOf(pid)) {
      for (let start = from; start < to; start += PIECE) {
        const length = readPiece(memory, buffer, start, Math.min(to - start, buffer.length));
        const piece = buffer.subarray(0, length);
        for (const { text, bytes } of needles) if (piece.includes(bytes)) found.add(text);
      }
    }
  } finally {
    closeSync(memory);
  }
  return [...found];
}

interface Region {
  readonly from: number;
  readonly to: number;
}

/** Returns the regions that are written to, without their pages that are not in memory. */
function regionsOf(pid: number): Region[] {
  const pages = openSync(`/proc/${pid}/pagemap`, 'r');
  try {
    return [...readFileSync(`/proc/${pid}/smaps`, 'utf8').matchAll(REGION)].flatMap(
      ([, from = '', to = '', access, resident]) =>
        access?.startsWith('rw') && resident !== '0'
          ? presentIn(pages, { from: Number.parseInt(from, 16), to: Number.parseInt(to, 16) })
          : [],
    );
  } finally {
    closeSync(pages);
  }
}

const PAGE = 4096;
const ENTRY = 8;
/** Bits 63 and 62 of an entry: the page is in memory, or swapped out. */
const IS_PRESENT = 0xc0;

function presentIn(pages: number, { from, to }: Region): Region[] {
  const map = Buffer.alloc(((to - from) / PAGE) * ENTRY);
  const length = readPiece(pages, map, (from / PAGE) * ENTRY, map.length);
  const found: Region[] = [];
  let start: number | undefined;
  for (let index = 0; index <= length / ENTRY; index += 1) {
    const isPresent = index < length / ENTRY && ((map[index * ENTRY + ENTRY - 1] ?? 0) & IS_PRESENT) !== 0;
    const at = from + index * PAGE;
    if (isPresent) start ??= at;
    else if (start !== undefined) {
      found.push({ from: start, to: at });
      start = undefined;
    }
  }
  return found;
}

/** Returns 0 for a region that has gone meanwhile. */
function readPiece(memory: number, buffer: Buffer, start: number, length: number): number {
  try {
    return readSync(memory, buffer, 0, length, start);
  } catch {
    return 0;
  }
}

/** Counts the connections of a process to a port of this machine. */
export function countConnections(pid: number, port: number): number {
  const remote = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = readFileSync(`/proc/${pid}/net/tcp`, 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  const inodes = new Set(rows.filter(([, , to]) => to?.endsWith(remote)).map((row) => `socket:[${row[9]}]`));
  const files = readdirSync(`/proc/${pid}/fd`).map((name) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${name}`);
    } catch {
      return '';
    }
  });
  return files.filter((file) => inodes.has(file)).length;
}
