import type { GoondanError } from '@goondan/types';
import { type StoredQuestions, storedQuestions } from '@goondan/runtime/history';
import { systemClock } from '@goondan/runtime/internal';
import { openDatabase } from '../driver/database.ts';
import { PostgresQuestions } from './questions.ts';
import { channelOf } from './wake-channel.ts';

/**
 * Opens the questions of a swarm in PostgreSQL, for a person who answers without a node. Nodes that run hear of each answer
 * at once, or at their next scan. Close it after use. **Errors** — `E_STORE_ADDRESS`, and those of a query.
 */
export async function openPostgresQuestions({
  address,
  swarm,
  hasChannel = true,
  report,
  name,
}: {
  readonly address: Parameters<typeof openDatabase>[0];
  readonly swarm: string;
  /** False if the database has no NOTIFY. */
  readonly hasChannel?: boolean;
  /** Gets each row that is not a question of this version. */
  readonly report?: (problem: GoondanError) => void;
  /** See `DatabaseOptions`. */
  readonly name?: string;
}): Promise<StoredQuestions> {
  const database = openDatabase(address, { connections: 1, ...(name !== undefined && { name }) });
  try {
    const context = { database, swarm, node: '', mayRepeat: () => false };
    const channel = hasChannel ? { channel: channelOf(swarm) } : {};
    const store = await PostgresQuestions.open({ ...context, ...channel }, report === undefined ? {} : { report });
    return {
      ...storedQuestions(store, systemClock),
      async close() {
        await store.close();
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}
