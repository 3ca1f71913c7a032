import { type AgentAddress, GoondanError } from '@goondan/types';
import type { Database, Value } from '../driver/database.ts';
import { mayPass, type Query, repeating } from '../driver/repeat.ts';

/** The place from which a node uses the store. Every seam of a node gets the same one. */
export interface StoreContext {
  readonly database: Database;
  /** The swarm's name in the store. */
  readonly swarm: string;
  /** The id of this node: the `owner` of its instances. */
  readonly node: string;
  /** Returns true while the lease of this node may be valid. As long, a store that is away is waited for. */
  readonly mayRepeat: () => boolean;
  /** The channel for hints to other nodes; absent when the database has no NOTIFY. Then only their scans find changes. */
  readonly channel?: string;
}

/** The values $1, $2 and $3 of every statement about an instance. */
export function keyOf(
  { swarm }: Pick<StoreContext, 'swarm'>,
  instance: AgentAddress,
): readonly [string, string, string] {
  return [swarm, instance.agentName, instance.instanceKey];
}

/** The condition for a row of the instance in $1, $2 and $3. */
export const SAME_INSTANCE = 'swarm = $1 and agent = $2 and key = $3';

/** Repeats a statement while the store is away and the lease may be valid. Then rejects with `E_STORE_AWAY`. */
export function queryOf({ database, mayRepeat }: StoreContext): Query {
  return repeating(database, mayRepeat);
}

/**
 * As `queryOf`, for a write of the owner of an instance. When the lease has run out meanwhile, nobody knows whether it is
 * still the owner: it rejects with `E_FENCED`.
 */
export function ownerQueryOf(context: StoreContext): Query {
  const query = queryOf(context);
  return async <Found extends Readonly<Record<string, unknown>>>(statement: string, values?: readonly Value[]) => {
    try {
      return await query<Found>(statement, values);
    } catch (error) {
      if (!mayPass(error)) throw error;
      throw new GoondanError('E_FENCED', `The lease of this node ran out before the store answered. ${error.message}`, {
        cause: error,
      });
    }
  };
}

export function notTheOwner({ agentName, instanceKey }: AgentAddress): GoondanError {
  const whose = `agent ${agentName}, instance ${JSON.stringify(instanceKey)}`;
  return new GoondanError('E_FENCED', `This node does not own ${whose} any more.`);
}
