import type { Clock } from '../ports/clock.ts';

/** The socket of a client's swarm. */
export interface ControlSocket {
  readonly path: string;
  /** The swarm, for error messages. */
  readonly what: string;
  readonly clock: Clock;
  /** The longest time without a byte. */
  readonly silenceMs: number;
}
