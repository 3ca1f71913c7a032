import type { Clock } from '../ports/clock.ts';

/** The socket a client talks to. */
export interface ControlSocket {
  readonly path: string;
  /** The swarm, in messages. */
  readonly what: string;
  readonly clock: Clock;
  /** So long without a byte is too long. */
  readonly silenceMs: number;
}
