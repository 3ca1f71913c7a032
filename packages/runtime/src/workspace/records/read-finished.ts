/** Reads the results of the last turns before a checkpoint. The cost does not grow with the history. */
import type { StoredInstance } from '../layout/instance-paths.ts';
import { corruptStore } from '../lines/corrupt-store.ts';
import { decodeFrame, type Frame } from './frame.ts';
import { GatheredTurn } from './gather-turns.ts';
import type { FinishedTurn } from './finished-turns.ts';
import { finishedTurns } from './log-state.ts';
import type { Checkpoint } from './metadata.ts';
import { listSegments } from './segments.ts';

const TAIL_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;

/**
 * Reads backwards, also into older segments, up to `tail` bytes, 1 MB when absent. Reads further until it has found one
 * turn. Returns the last `most` results by turn id, oldest first. **Errors** — `E_STORE_CORRUPT`.
 */
export async function readFinished(
  stored: StoredInstance,
  { segment, offset, version }: Pick<Checkpoint, 'segment' | 'offset' | 'version'>,
  { tail = TAIL_BYTES, most = stored.limits.rememberedTurns }: { readonly tail?: number; readonly most?: number } = {},
): Promise<readonly FinishedTurn[]> {
  if (version === 0) return [];
  const { fs } = stored;
  const older = (await listSegments(stored)).filter(({ number }) => number <= segment).toReversed();
  let results: FinishedTurn[] = [];
  let left = tail;
  for (const { path, number } of older) {
    const end = number === segment ? offset : ((await fs.stat(path))?.size ?? 0);
    let from = Math.max(0, end - left);
    let found = resultsIn(await framesOf(stored, path, from, end));
    while (found.length === 0 && results.length === 0 && from > 0) {
      from = Math.max(0, end - Math.max((end - from) * 4, TAIL_BYTES));
      found = resultsIn(await framesOf(stored, path, from, end));
    }
    results = [...found, ...results];
    left = Math.max(0, left - (end - from));
    if (results.length >= most || (left === 0 && results.length > 0)) break;
  }
  return results.slice(-most);
}

async function framesOf(stored: StoredInstance, path: string, from: number, end: number): Promise<Frame[]> {
  const bytes = (await stored.fs.read(path, from, end - from)) ?? new Uint8Array();
  const frames: Frame[] = [];
  let start = from === 0 ? 0 : bytes.indexOf(NEWLINE) + 1;
  for (let stop = bytes.indexOf(NEWLINE, start); stop !== -1; stop = bytes.indexOf(NEWLINE, start)) {
    const frame = decodeFrame(bytes.subarray(start, stop));
    if (!frame) throw await corruptStore(stored, path, `the frame at byte ${from + start} is damaged`);
    frames.push(frame);
    start = stop + 1;
  }
  return frames;
}

function resultsIn(frames: readonly Frame[]): FinishedTurn[] {
  const gathered = new GatheredTurn();
  return frames.flatMap((frame) => {
    const turn = gathered.add(frame);
    // The response may be in a frame before the part that was read; the result is then not known.
    return turn ? finishedTurns(turn) : [];
  });
}
