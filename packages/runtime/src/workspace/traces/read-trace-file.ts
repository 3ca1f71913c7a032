/** Reads the file of one turn, complete or only its beginning and end, also while it is being written. */
import type { Fs } from '../../ports/fs.ts';
import { assembleTurn, summarise } from '../../trace/assemble-turn.ts';
import { decodeTraceLines } from '../../trace/decode-trace-lines.ts';
import type { TraceLine } from '../../trace/trace-lines.ts';
import type { TurnSummary, TurnTrace } from '../../trace/turn-trace.ts';

/** Bytes to read at each end: more than the first line takes, and more than the last lines take. */
const END_BYTES = 16 * 1024;

/** Returns `undefined` when the file is deleted or has no lines. */
export async function readTraceFile(fs: Fs, path: string): Promise<TurnTrace | undefined> {
  return assembleTurn(await readTraceLines(fs, path));
}

export async function readTraceLines(fs: Fs, path: string): Promise<TraceLine[]> {
  return decode(await fs.read(path));
}

/** Reads the beginning and the end. */
export async function readTraceSummary(fs: Fs, path: string): Promise<TurnSummary | undefined> {
  const stat = await fs.stat(path);
  if (stat === undefined) return undefined;
  if (stat.size <= 2 * END_BYTES) return summarise(decode(await fs.read(path)));
  const [first] = decode(await fs.read(path, 0, END_BYTES));
  const last = decode(await fs.read(path, stat.size - END_BYTES));
  // A run that began in between is missed; the last run ended in `last`, or is in it.
  return summarise([...(first === undefined ? [] : [first]), ...last]);
}

function decode(bytes: Uint8Array | undefined): TraceLine[] {
  return decodeTraceLines(new TextDecoder().decode(bytes));
}
