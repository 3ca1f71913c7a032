/** The options of the place of a node. */
import type { NodeFacts } from '@goondan/runtime/history';
import type { Clock } from '@goondan/runtime/internal';
import type { Database } from '../driver/database.ts';
import type { SwarmRows } from './swarm-rows.ts';

export interface PlacementOptions extends SwarmRows {
  /** The connections for the lease. Nothing else should use them, so that a renewal never waits for other statements. */
  readonly database: Pick<Database, 'query'>;
  /** The connections for claims; those of the lease when absent. */
  readonly work?: Pick<Database, 'query'>;
  readonly facts: NodeFacts;
  readonly leaseMs: number;
  readonly clock?: Clock;
  /** The id of the last place of this process, which lived but was cut off from the database (`NodePlacement.stoodStill`). */
  readonly cutOff?: string;
}

/** A node that has joined. */
export interface NodeStart {
  readonly id: string;
  readonly node: string;
  readonly leaseMs: number;
  readonly clock: Clock;
  /** The time on the monotonic clock at which the lease was asked for. */
  readonly sentAt: number;
  readonly work: Pick<Database, 'query'>;
}
