import type { Clock } from '../ports/clock.ts';

/** The connection settings of a client for one swarm. */
export interface ControlSocket {
  readonly path: string;
  /** The name of the swarm, for error messages. */
  readonly what: string;
  readonly clock: Clock;
  /** The maximum time without a received byte. */
  readonly silenceMs: number;
}
