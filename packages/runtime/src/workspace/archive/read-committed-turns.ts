/**
 * Reads every kept committed turn. It takes no lock and changes nothing, so that processes other than the owner can use
 * it.
 */
import type { GoondanError } from '@goondan/types';
import type { StoredInstance } from '../layout/instance-paths.ts';
import { corruptStore, isCorrupt } from '../lines/corrupt-store.ts';
import { corruptLog, type ReadLog, readLog } from '../records/read-log.ts';
import { type ArchivedTurn, readArchive } from './read-archive.ts';

/** Receives the reason why the end of a history cannot be checked. */
export type UncheckedListener = (error: GoondanError) => void;

/**
 * Yields the turns after commit `after`, oldest first, at least up to the commit that was newest when the read began. If
 * `onUnchecked` is given, damaged metadata is reported to it, and the end of the log is not checked.
 *
 * **Errors** — those of `readArchive`, `E_STORE_INSTANCE`; `E_STORE_CORRUPT` when the metadata is missing, or when turns
 * are missing.
 */
export async function* readCommittedTurns(
  stored: StoredInstance,
  after = 0,
  onUnchecked?: UncheckedListener,
): AsyncGenerator<ArchivedTurn> {
  const { paths } = stored;
  const log = await findLog(stored, onUnchecked);
  if (log === undefined) return;
  let last = after;
  for await (const turn of readArchive(stored)) {
    if (turn.version <= last) continue;
    // The first turn is checked by `keptHistory`, because older segments may be deleted meanwhile.
    if (last > after && turn.version !== last + 1) {
      throw await corruptStore(stored, paths.events, `commit ${last + 1} is missing`);
    }
    yield turn;
    last = turn.version;
  }
  if (log === 'unchecked') return;
  if (log.damage) throw await corruptLog(stored, log.damage);
  const wanted = log.state.version;
  if (last < wanted) {
    throw await corruptStore(stored, paths.events, `it ends after commit ${last}, and there were ${wanted}`);
  }
}

async function findLog(
  stored: StoredInstance,
  onUnchecked: UncheckedListener | undefined,
): Promise<ReadLog | 'unchecked' | undefined> {
  try {
    return await readLog(stored);
  } catch (error) {
    if (onUnchecked === undefined || !isCorrupt(error)) throw error;
    onUnchecked(error);
    return 'unchecked';
  }
}
