/**
 * Reads the state of an instance from its checkpoint and the frames after it, for its owner and for other processes. It
 * takes no lock and changes nothing. The cost depends on the frames since the checkpoint, not on the history.
 */
import type { StoredInstance } from '../layout/instance-paths.ts';
import { corruptStore } from '../lines/corrupt-store.ts';
import { readSettled } from '../lines/read-settled.ts';
import { isLastEpoch } from '../lock/acquire-lock.ts';
import type { CommittedTurn } from './gather-turns.ts';
import { type HandledNumbers, LogState, NOTHING_HANDLED } from './log-state.ts';
import type { Checkpoint, InstanceMetadata } from './metadata.ts';
import { readFrames, type ReadFrames } from './read-frames.ts';
import { type FoundMetadata, readOwnMetadata } from './read-metadata.ts';
import { listSegments, type Segment } from './segments.ts';

export interface ReadLog {
  readonly metadata: InstanceMetadata;
  /** False if there is no `metadata.json` yet, and the metadata comes from the log. */
  readonly hasCheckpoint: boolean;
  readonly state: LogState;
  /** The turns that were committed after the checkpoint. */
  readonly turns: readonly CommittedTurn[];
  /** The current segment, and its frames after the checkpoint; `undefined` when its file does not exist. */
  readonly current: { readonly segment: Segment; readonly read: ReadFrames | undefined };
  /** The damage to the log after the checkpoint. */
  readonly damage?: LogDamage;
}

export interface LogDamage {
  readonly path: string;
  readonly problem: string;
  /** True if the log ends before the checkpoint. */
  readonly isBeforeCheckpoint?: boolean;
  /** True if only the head of the first frame is lost, which has nothing of the conversation. */
  readonly isHeadOnly?: boolean;
}

const ATTEMPTS = 5;
const NEWLINE = 0x0a;

/** Reads the log. Returns `undefined` when the instance does not exist. **Errors** — those of `readOwnMetadata`. */
export async function readLog(stored: StoredInstance): Promise<ReadLog | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const found = await readOwnMetadata(stored);
    if (!found) return undefined;
    const log = await readTail(stored, found);
    // The owner may have written a checkpoint or a segment between the reads.
    if (!log.damage || attempt >= ATTEMPTS) return log;
  }
}

/**
 * Reads the state. If the log is damaged only before the checkpoint, and nobody opened the instance since, the checkpoint
 * is the whole state. `withoutHead`: the state is also returned if only the head of the log is lost. **Errors** —
 * `E_STORE_CORRUPT`, and those of `readLog`.
 */
export function readState(stored: StoredInstance, withoutHead = false): Promise<ReadLog | undefined> {
  return readSettled(stored, async (settled) => {
    const log = await readLog(settled);
    if (!log?.damage || (withoutHead && log.damage.isHeadOnly)) return log;
    if (!(await isWholeWithout(settled, log))) throw await corruptLog(settled, log.damage);
    return log;
  });
}

/** Returns true if nothing can have been lost behind the checkpoint. */
async function isWholeWithout({ fs, paths }: StoredInstance, { damage, metadata }: ReadLog): Promise<boolean> {
  if (!damage?.isBeforeCheckpoint) return damage === undefined;
  return isLastEpoch(fs, paths.lock, metadata.checkpoint.closedBy);
}

export async function corruptLog(stored: StoredInstance, { path, problem }: LogDamage) {
  return corruptStore(stored, path, problem);
}

/** Reads which input of an instance is handled. */
export async function readHandledNumbers(stored: StoredInstance): Promise<HandledNumbers> {
  const state = (await readState(stored))?.state;
  return state ? { handled: state.inbox, taken: state.taken } : NOTHING_HANDLED;
}

async function readTail(stored: StoredInstance, found: FoundMetadata): Promise<ReadLog> {
  const log = await readFrom(stored, found);
  const { problem } = found;
  if (problem === undefined || log.damage) return log;
  return { ...log, damage: { path: stored.paths.events, problem, isHeadOnly: true } };
}

async function readFrom(stored: StoredInstance, { metadata, hasCheckpoint }: FoundMetadata): Promise<ReadLog> {
  const { fs } = stored;
  const { checkpoint } = metadata;
  const state = new LogState(checkpoint);
  const turns: CommittedTurn[] = [];
  const all = await listSegments(stored);
  const segments = all.filter(({ number }) => number >= checkpoint.segment);
  const last = { number: 1, path: stored.paths.events, isCurrent: true, ...all.at(-1) };
  let read: ReadFrames | undefined;
  const result = (damage?: LogDamage) => ({
    metadata,
    hasCheckpoint,
    state,
    turns,
    current: { segment: last, read },
    ...(damage && { damage }),
  });
  for (const [index, segment] of segments.entries()) {
    const { path, number, isCurrent } = segment;
    const found = number === checkpoint.segment ? await readBytes(stored, path, checkpoint) : await fs.read(path);
    if (found === 'short') return result({ path, problem: 'it ends before the checkpoint', isBeforeCheckpoint: true });
    // A crash may have happened after the rotation and before the next file got its first frame.
    if (!found?.length && isCurrent && index > 0) return result();
    if (!found || number !== checkpoint.segment + index) {
      return result({ path, problem: 'it is missing', isBeforeCheckpoint: index === 0 && !found });
    }
    const isFirst = number === checkpoint.segment;
    const frames = readFrames(found, isFirst ? checkpoint.offset : 0, state.seq + 1);
    for (const frame of frames.frames) {
      const turn = state.apply(frame);
      if (turn) turns.push(turn);
    }
    if (isCurrent) read = frames;
    const problem = frames.damage ?? problemOfEnd(frames, isCurrent);
    if (problem !== undefined) return result({ path, problem });
  }
  if (segments.length === 0) return result({ path: last.path, problem: 'it is missing', isBeforeCheckpoint: true });
  return result();
}

function problemOfEnd({ torn, hasRoom }: ReadFrames, isCurrent: boolean): string | undefined {
  if (torn && !isCurrent) return 'its last frame is damaged';
  return isCurrent && !hasRoom ? 'its end is missing' : undefined;
}

/** Reads the bytes after the checkpoint. Returns `short` when the file ends earlier, or has no frame before it. */
async function readBytes(
  { fs }: StoredInstance,
  path: string,
  { offset }: Checkpoint,
): Promise<Uint8Array | 'short' | undefined> {
  if (offset === 0) return fs.read(path);
  const bytes = await fs.read(path, offset - 1);
  if (!bytes) return undefined;
  return bytes[0] === NEWLINE ? bytes.subarray(1) : 'short';
}
