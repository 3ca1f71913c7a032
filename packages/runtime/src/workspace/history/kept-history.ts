/** Returns the kept history of an instance: its start, and every committed turn after it. */
import type { ArchivedTurn } from '../archive/read-archive.ts';
import { readCommittedTurns, type UncheckedListener } from '../archive/read-committed-turns.ts';
import type { StoredInstance } from '../layout/instance-paths.ts';
import { corruptStore } from '../lines/corrupt-store.ts';
import { type HistoryStart, readStart } from './history-start.ts';

export interface KeptHistory {
  readonly start: HistoryStart;
  /** The turns, oldest first. They can be iterated only once. */
  readonly turns: AsyncIterable<ArchivedTurn>;
}

const ATTEMPTS = 5;

/**
 * Opens the history without a lock. `onUnchecked`: see `readCommittedTurns`.
 *
 * **Errors** — `E_STORE_CORRUPT`, `E_STORE_READ`, `E_STORE_INSTANCE`; some of them are thrown only while `turns` is
 * read.
 */
export async function keptHistory(stored: StoredInstance, onUnchecked?: UncheckedListener): Promise<KeptHistory> {
  const { paths } = stored;
  for (let attempt = 1; ; attempt += 1) {
    const start = await readStart(stored, paths.historyStart);
    const turns = readCommittedTurns(stored, start.version, onUnchecked);
    const { value: first } = await turns.next();
    if (first === undefined || first.version === start.version + 1) return { start, turns: from(first, turns) };
    // The oldest turns may have been deleted between the read of the start and the read of the turns.
    await turns.return(undefined);
    if (attempt >= ATTEMPTS) throw await corruptStore(stored, paths.events, 'its first turns are missing');
  }
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
