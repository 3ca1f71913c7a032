import type { Clock } from '@goondan/runtime/internal';
import type { NoticeSocket } from './notice-socket.ts';
import type { OpenedSwarm } from './opened-swarm.ts';
import type { SharedReads } from './shared-reads.ts';
import type { StreamRoom } from './stream-room.ts';
import type { StoreWarning } from './warn-once.ts';

/** Everything that handlers of requests need. */
export interface StudioHost {
  readonly stateRoot: string;
  readonly version: string;
  readonly opened?: OpenedSwarm;
  readonly reads: SharedReads;
  readonly streams: StreamRoom;
  /** Turns the request into this WebSocket; false when it does not ask for one. */
  readonly upgrade: (request: Request, socket: NoticeSocket) => boolean;
  readonly clock: Clock;
  /** Gets reports of damage on the disk. */
  readonly warn: (warning: StoreWarning) => void;
}
