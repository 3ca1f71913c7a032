import type { Swarm, SwarmNotice } from '../../control/swarm.ts';
import type { Clock } from '../../ports/clock.ts';
import type { BodyRoom } from './body-room.ts';
import type { controlLimits } from './control-limits.ts';
import type { OpenStreams } from './event-stream.ts';
import type { OpenRequests } from './open-requests.ts';

/** The dependencies that every request of one socket shares. */
export interface ControlHost {
  readonly swarm: Swarm;
  readonly limits: typeof controlLimits;
  /** Returns the maximum size of the body of an input, with its files. */
  readonly longestDelivery: () => number;
  readonly clock: Clock;
  readonly open: Pick<OpenRequests, 'add' | 'wait'>;
  readonly bodies: BodyRoom;
  readonly streams: OpenStreams;
  readonly encodeNotice: (notice: SwarmNotice) => Uint8Array;
  /** The name of the client's token, in whose name questions are answered; absent when the client needs no token. */
  readonly caller?: string;
  /** Throws `E_CONTROL_FULL` when no further request may stay open. */
  readonly checkRoom: () => void;
  /** Receives errors without a code. */
  readonly report: (error: unknown, what: string) => void;
}
