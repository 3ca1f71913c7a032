import { GoondanError } from '@goondan/types';
import type { PlannedFault, SimulatedDatabase } from './simulated-database.ts';

/** The life of one node, which ends by itself or at its fault. */
export interface NodeLife {
  readonly database: SimulatedDatabase;
  /** Resolves when the node ends, dies or is late. */
  stopped(): Promise<'ended' | 'dead' | 'late'>;
  /** Waits for the end or the death of the node, and for late statements. Returns the number of statements. */
  ended(): Promise<number>;
}

/**
 * Lets a node serve. `hasJoined`: tells whether it has a lease to lose. The echo of a claim raises the epoch, so that the node
 * has to claim again, and a late node has lost its lease: both are refused with `E_FENCED`, and the next life goes on.
 */
export function beginLife(
  database: SimulatedDatabase,
  fault: PlannedFault | undefined,
  hasJoined: () => boolean,
  serve: () => Promise<unknown>,
): NodeLife {
  const mayBeRefused = fault?.fault === 'echo' || fault?.fault === 'late';
  const served = serve().catch((error: unknown) => {
    if (!mayBeRefused || !GoondanError.is(error) || error.code !== 'E_FENCED') throw error;
  });
  const stopped = () => Promise.race([served.then(() => 'ended' as const), database.stopped]);
  return {
    database,
    stopped,
    async ended() {
      if ((await stopped()) === 'late' && hasJoined()) await served;
      await database.settled();
      await database.sendEcho();
      database.kill();
      return database.statements;
    },
  };
}
