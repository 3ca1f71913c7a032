/**
 * `ctx.emit`: from what a connector says it heard to an event that is accepted.
 *
 * Invariants:
 * 1. An event is checked and put into bytes when `emit` is called: what its author changes later is not in it.
 * 2. The same id while the first is under way is the same emit: a sender that tries again at once gets the same answer.
 * 3. A refusal nobody looks at does not end the process: whoever sends to a connector must not be able to stop it.
 */
import { type ConnectorEvent, type EmitEvent, GoondanError } from '@goondan/types';
import type { EmitConnectorEvent } from '../ipc/connector-events.ts';
import type { HeardEvent } from '../ipc/from-connector.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import { checkEvent } from './check-event.ts';

export interface EmitPorts {
  readonly send: EmitConnectorEvent;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Told of an event that is none. What the orchestrator refuses, the orchestrator tells. */
  readonly onMalformed: (error: GoondanError) => void;
}

export class Emits {
  readonly #ports: EmitPorts;
  /** Bounded by `send`, which refuses when too many wait. */
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(ports: EmitPorts) {
    this.#ports = ports;
  }

  readonly emit: EmitEvent = (event) => {
    const emitted = this.#begin(event);
    // Invariant 3: whoever does await it hears of it all the same.
    emitted.catch(() => undefined);
    return emitted;
  };

  get underWay(): number {
    return this.#underWay.size;
  }

  /** Resolves when none is under way, however each ended. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay.values());
  }

  #begin(event: ConnectorEvent): Promise<void> {
    try {
      const { id, heard } = checkEvent(event, this.#ports);
      return this.#underWay.get(id) ?? this.#send(id, heard);
    } catch (error) {
      if (error instanceof GoondanError) this.#ports.onMalformed(error);
      return Promise.reject(error);
    }
  }

  #send(id: string, heard: HeardEvent): Promise<void> {
    const sent = this.#ports.send(id, heard).finally(() => this.#underWay.delete(id));
    this.#underWay.set(id, sent);
    return sent;
  }
}
