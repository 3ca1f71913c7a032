/** Reads the file of one turn, completely or only its beginning and end, even while the file is being written. */
import type { Fs } from '../../ports/fs.ts';
import { assembleTurn, summarise } from '../../trace/assemble-turn.ts';
import { decodeTraceLines } from '../../trace/decode-trace-lines.ts';
import type { TraceLine } from '../../trace/trace-lines.ts';
import type { TurnSummary, TurnTrace } from '../../trace/turn-trace.ts';

/** The number of bytes to read at each end of the file, which is enough for the first line and for the last lines. */
const END_BYTES = 16 * 1024;

/** Reads the trace of a turn. Returns `undefined` when the file was deleted or has no lines. */
export async function readTraceFile(fs: Fs, path: string): Promise<TurnTrace | undefined> {
  return assembleTurn(await readTraceLines(fs, path));
}

export async function readTraceLines(fs: Fs, path: string): Promise<TraceLine[]> {
  return decode(await fs.read(path));
}

/** Reads only the beginning and the end of the file. */
export async function readTraceSummary(fs: Fs, path: string): Promise<TurnSummary | undefined> {
  const stat = await fs.stat(path);
  if (stat === undefined) return undefined;
  if (stat.size <= 2 * END_BYTES) return summarise(decode(await fs.read(path)));
  const [first] = decode(await fs.read(path, 0, END_BYTES));
  const last = decode(await fs.read(path, stat.size - END_BYTES));
  // A run that began in the unread middle of the file is missed, but the end of the last run is always in `last`.
  return summarise([...(first === undefined ? [] : [first]), ...last]);
}

function decode(bytes: Uint8Array | undefined): TraceLine[] {
  return decodeTraceLines(new TextDecoder().decode(bytes));
}
