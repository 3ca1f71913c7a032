/** The connections of a swarm: one process each, kept alive from `start` to `drain`, none of another's concern. */
import type { ConnectionPlan } from '../../config/swarm-plan.ts';
import type { ConnectionStatus } from '../../control/swarm-control.ts';
import type { Ingress } from './accept-heard.ts';
import { type ConnectionPolicy, defaultConnectionPolicy } from './connection-state.ts';
import { type ConnectionListeners, type ConnectionPorts, KeptConnection } from './kept-connection.ts';

export interface ConnectionsParts {
  /** Each with its own name. */
  readonly plans: readonly ConnectionPlan[];
  readonly ports: ConnectionPorts;
  readonly ingress: Ingress;
  readonly listeners: ConnectionListeners;
  readonly policy?: Partial<ConnectionPolicy>;
}

export class Connections {
  readonly #connections: readonly KeptConnection[];

  constructor({ plans, ports, ingress, listeners, policy }: ConnectionsParts) {
    const host = { ...ports, ...listeners, ingress, policy: { ...defaultConnectionPolicy, ...policy } };
    this.#connections = plans.map((plan) => new KeptConnection(plan, host));
  }

  start(): void {
    for (const connection of this.#connections) connection.start();
  }

  /** Asks all of them to go, and kills who has not gone after `graceMs`. Resolves when none is left. Asked again it hurries. */
  async drain(graceMs: number): Promise<void> {
    await Promise.all(this.#connections.map((connection) => connection.drain(graceMs)));
  }

  /** In the order of the plans. */
  status(): readonly ConnectionStatus[] {
    return this.#connections.map((connection) => connection.status());
  }
}
