/** Returns the kept history of an instance: its start, and every committed turn after it. */
import type { AgentAddress } from '@goondan/types';
import type { ArchivedTurn } from '../archive/read-archive.ts';
import { readCommittedTurns, type UncheckedListener } from '../archive/read-committed-turns.ts';
import type { InstancePaths } from '../layout/instance-paths.ts';
import { corruptStore } from '../lines/corrupt-store.ts';
import type { StorePorts } from '../store-ports.ts';
import { type HistoryStart, readStart } from './history-start.ts';

export interface KeptHistory {
  readonly start: HistoryStart;
  /** Oldest first; iterate it only once. */
  readonly turns: AsyncIterable<ArchivedTurn>;
}

const ATTEMPTS = 5;

/**
 * Opens the history without a lock. `onUnchecked`: see `readCommittedTurns`.
 *
 * **Errors** — `E_STORE_CORRUPT`, `E_STORE_READ`, `E_STORE_INSTANCE`; some of them are thrown only while `turns` is
 * read.
 */
export async function keptHistory(
  ports: StorePorts,
  paths: InstancePaths,
  address: AgentAddress,
  onUnchecked?: UncheckedListener,
): Promise<KeptHistory> {
  for (let attempt = 1; ; attempt += 1) {
    const start = await readStart(ports, paths.historyStart);
    const turns = readCommittedTurns(ports, paths, address, start.version, onUnchecked);
    const { value: first } = await turns.next();
    if (first === undefined || first.version === start.version + 1) return { start, turns: from(first, turns) };
    // The oldest turns may have been deleted between the read of the start and the read of the turns.
    await turns.return(undefined);
    if (attempt >= ATTEMPTS) throw await corruptStore(ports, paths.archive, 'its first turns are missing');
  }
}

/** Yields the turns of `keptHistory`, without the start. **Errors** — those of `keptHistory`. */
export async function* keptTurns(
  ports: StorePorts,
  paths: InstancePaths,
  address: AgentAddress,
): AsyncGenerator<ArchivedTurn> {
  yield* (await keptHistory(ports, paths, address)).turns;
}

async function* from(first: ArchivedTurn | undefined, rest: AsyncIterable<ArchivedTurn>): AsyncGenerator<ArchivedTurn> {
  if (first === undefined) return;
  yield first;
  yield* rest;
}
