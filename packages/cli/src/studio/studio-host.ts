import type { DurableStoreOptions } from '@goondan/runtime/history';
import type { Clock } from '@goondan/runtime/internal';
import type { Prices } from '@goondan/types';
import type { ClusterAccess } from '../cluster/cluster-access.ts';
import type { NoticeSocket } from './notice-socket.ts';
import type { OpenedSwarm } from './opened-swarm.ts';
import type { SharedReads } from './shared-reads.ts';
import type { StreamRoom } from './stream-room.ts';

/** Everything that request handlers need. */
export interface StudioHost {
  readonly stateRoot: string;
  /** The store whose swarms are shown; without it, those of the state root. */
  readonly cluster?: ClusterAccess;
  readonly version: string;
  readonly opened?: OpenedSwarm;
  /** The prices of model calls; without them, no cost is shown. */
  readonly prices?: Prices;
  readonly reads: SharedReads;
  readonly streams: StreamRoom;
  /** Upgrades the request to this WebSocket; returns false when the request is not an upgrade. */
  readonly upgrade: (request: Request, socket: NoticeSocket) => boolean;
  /** Returns the name under which an answer is recorded. */
  readonly nameOfPerson: () => string;
  readonly clock: Clock;
  /** Called with reports of damaged files. */
  readonly warn: NonNullable<DurableStoreOptions['warn']>;
}
