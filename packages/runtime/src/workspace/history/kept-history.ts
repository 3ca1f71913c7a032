/** Returns the kept history of an instance: its start, and every committed turn after it. */
import type { ArchivedTurn } from '../archive/read-archive.ts';
import { readCommittedTurns, type UncheckedListener } from '../archive/read-committed-turns.ts';
import type { StoredInstance } from '../layout/instance-paths.ts';
import { corruptStore } from '../lines/corrupt-store.ts';
import { readSettled } from '../lines/read-settled.ts';
import { type HistoryStart, readStart } from './history-start.ts';

export interface KeptHistory {
  readonly start: HistoryStart;
  /** The turns, oldest first. They can be iterated only once. */
  readonly turns: AsyncIterable<ArchivedTurn>;
}

/**
 * Opens the history without a lock. `onUnchecked`: see `readCommittedTurns`.
 *
 * **Errors** — `E_STORE_CORRUPT`, `E_STORE_READ`, `E_STORE_INSTANCE`; some of them are thrown only while `turns` is
 * read.
 */
export function keptHistory(stored: StoredInstance, onUnchecked?: UncheckedListener): Promise<KeptHistory> {
  return readSettled(stored, async (settled) => {
    const read = (place: StoredInstance) => readStart(place, place.paths.historyStart);
    const start = await read(settled);
    // The turns are read after this function has ended, so they are confirmed on their own.
    const turns = readCommittedTurns(stored, start.version, async () => (await read(stored)).version, onUnchecked);
    const { value: first } = await turns.next();
    if (first === undefined || first.version === start.version + 1) return { start, turns: from(first, turns) };
    // The oldest turns may have been deleted between the read of the start and the read of the turns.
    await turns.return(undefined);
    throw await corruptStore(settled, settled.paths.events, 'its first turns are missing');
  });
}

/** Yields the turns of `keptHistory`, without the start. **Errors** — those of `keptHistory`. */
export async function* keptTurns(stored: StoredInstance): AsyncGenerator<ArchivedTurn> {
  yield* (await keptHistory(stored)).turns;
}

async function* from(first: ArchivedTurn | undefined, rest: AsyncIterable<ArchivedTurn>): AsyncGenerator<ArchivedTurn> {
  if (first === undefined) return;
  yield first;
  yield* rest;
}
