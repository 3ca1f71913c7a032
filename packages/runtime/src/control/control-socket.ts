import type { Clock } from '../ports/clock.ts';

/** The connection settings of a client for one swarm. */
export interface ControlSocket {
  /** The path of the Unix socket of a swarm on this machine, or the port of a node. */
  readonly place: { readonly path: string } | NodePlace;
  /** The name of the swarm, for error messages. */
  readonly what: string;
  readonly clock: Clock;
  /** The maximum time without a received byte. */
  readonly silenceMs: number;
}

/** The control port of a node, which may be on another machine. */
export interface NodePlace {
  /** The address of the port, as `host:port`; an IPv6 address is in brackets. */
  readonly address: string;
  /** The SHA-256 of the node's certificate, as 64 hexadecimal digits. */
  readonly certificate: string;
  /** The token of the cluster, which is sent only to the owner of this certificate. */
  readonly token: string;
  /** The name of the node that passes on requests of its own clients; the other node then answers for itself only. */
  readonly relayedBy?: string;
  /** The time for a connection and its handshake; 10 seconds when absent. */
  readonly connectMs?: number;
}
