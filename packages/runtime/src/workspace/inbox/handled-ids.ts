/**
 * The ids of the last handled events of an instance, to recognize a second delivery. They are read from the log of the
 * instance when its first event is accepted, and kept in memory for the instances that were used last.
 */
import type { StoredInstance } from '../layout/instance-paths.ts';
import { isCorrupt } from '../lines/corrupt-store.ts';
import type { CommitEntry } from '../records/frame.ts';
import type { Checkpoint } from '../records/metadata.ts';
import { readFinished } from '../records/read-finished.ts';
import { readState } from '../records/read-log.ts';
import { turnIdOf } from '../../ports/ids.ts';
import { type InputProgress, NO_PROGRESS, progressOf } from './input-progress.ts';

/** Ids are read from this many bytes at the end of the log: 1024 short turns. */
const TAIL_BYTES = 2 * 1024 * 1024;
const PREFIX = turnIdOf('');

export interface HandledInput extends InputProgress {
  /** The ids of handled events, oldest first. */
  readonly ids: readonly string[];
}

/** Reads how far an instance is. **Errors** — `E_STORE_CORRUPT`, and those of reading. */
export async function readHandled(stored: StoredInstance): Promise<HandledInput> {
  const log = await readState(stored);
  if (!log) return { ...NO_PROGRESS, ids: [] };
  const { metadata, turns, state } = log;
  const older = await readOlder(stored, metadata.checkpoint);
  const own = (turnId: string) => (turnId.startsWith(PREFIX) ? [turnId.slice(PREFIX.length)] : []);
  const newer = turns.flatMap(({ turnId, commit }) => [...takenIds(commit), ...own(turnId)]);
  const ids = [...older.flatMap(([turnId]) => own(turnId)), ...newer];
  return { ...progressOf(state), ids: ids.slice(-stored.limits.rememberedEvents) };
}

function takenIds({ taken = [] }: CommitEntry): readonly string[] {
  return taken.map(([, eventId]) => eventId);
}

/** Damage before the checkpoint is found by the process of the instance. Until then its input is kept. */
async function readOlder(stored: StoredInstance, checkpoint: Checkpoint): ReturnType<typeof readFinished> {
  try {
    return await readFinished(stored, checkpoint, { tail: TAIL_BYTES, most: stored.limits.rememberedEvents });
  } catch (error) {
    if (isCorrupt(error)) return [];
    throw error;
  }
}

/** The ids of one instance. The oldest are forgotten above the limit. */
export class KnownIds {
  readonly #ids: Set<string>;

  constructor(
    ids: Iterable<string>,
    private readonly most: number,
  ) {
    this.#ids = new Set(ids);
  }

  get size(): number {
    return this.#ids.size;
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  add(ids: readonly string[]): void {
    for (const id of ids) {
      // The newest id is last.
      this.#ids.delete(id);
      this.#ids.add(id);
    }
    for (const id of this.#ids) {
      if (this.#ids.size <= this.most) return;
      this.#ids.delete(id);
    }
  }
}
