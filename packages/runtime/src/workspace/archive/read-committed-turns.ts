/**
 * Reads every kept committed turn. It takes no lock and changes nothing, so that processes other than the owner can use
 * it.
 */
import { type AgentAddress, type ErrorCode, GoondanError } from '@goondan/types';
import type { StoredInstance } from '../layout/instance-paths.ts';
import { corruptStore, isCorrupt } from '../lines/corrupt-store.ts';
import { yieldSettled } from '../lines/read-settled.ts';
import { corruptLog, type ReadLog, readLog } from '../records/read-log.ts';
import { type ArchivedTurn, readArchive } from './read-archive.ts';

/** Receives the reason why the end of a history cannot be checked. */
export type UncheckedListener = (error: GoondanError) => void;

/**
 * Yields the turns after commit `after`, oldest first, at least up to the commit that was newest when the read began. If
 * `onUnchecked` is given, damaged metadata is reported to it, and the end of the log is not checked. `readStart` returns the
 * number of the last commit whose turn is deleted.
 *
 * **Errors** — those of `readArchive`, `E_STORE_INSTANCE`; `E_STORE_CORRUPT` when the metadata is missing, or when turns
 * are missing. After the first turn: `E_INSTANCE_UNKNOWN` when the instance was deleted, `E_HISTORY_RANGE` when the next turn was.
 */
export async function* readCommittedTurns(
  stored: StoredInstance,
  after: number,
  readStart: () => Promise<number>,
  onUnchecked?: UncheckedListener,
): AsyncGenerator<ArchivedTurn> {
  const { paths, address } = stored;
  let last = after;
  let createdAt: string | undefined;
  yield* yieldSettled(stored, async function* (settled) {
    const log = await findLog(settled, onUnchecked);
    const isOther = log !== 'unchecked' && log?.metadata.createdAt !== createdAt;
    if (createdAt !== undefined && isOther && last > after)
      throw deletedMeanwhile('E_INSTANCE_UNKNOWN', 'The conversation', address);
    if (log === undefined) return;
    if (log !== 'unchecked') createdAt = log.metadata.createdAt;
    for await (const turn of readArchive(settled)) {
      if (turn.version <= last) continue;
      // The first turn is checked by `keptHistory`, because older segments may be deleted meanwhile.
      if (last > after && turn.version !== last + 1) {
        if (turn.version <= (await readStart()) + 1) throw deletedMeanwhile('E_HISTORY_RANGE', NEXT_TURN, address);
        throw await corruptStore(settled, paths.events, `commit ${last + 1} is missing`);
      }
      last = turn.version;
      yield turn;
    }
    if (log === 'unchecked') return;
    if (log.damage) throw await corruptLog(settled, log.damage);
    const wanted = log.state.version;
    if (last < wanted) {
      throw await corruptStore(settled, paths.events, `it ends after commit ${last}, and there were ${wanted}`);
    }
  });
}

const NEXT_TURN = 'The next turn of the conversation';

function deletedMeanwhile(code: ErrorCode, what: string, { agentName, instanceKey }: AgentAddress): GoondanError {
  const message = `${what} ${JSON.stringify(instanceKey)} of ${agentName} was deleted while it was read.`;
  return new GoondanError(code, message);
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
