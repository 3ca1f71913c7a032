/**
 * `ctx.emit`: from a connector's call to an accepted event.
 *
 * Invariants:
 * 1. An event is checked and encoded when `emit` is called, so later changes of the object have no effect.
 * 2. While an event is being sent, a second `emit` with the same id gets the same promise.
 * 3. An unhandled rejection does not end the process, because a sender must not be able to stop a connector.
 */
import type { ConnectorEvent, EmitEvent } from '@goondan/types';
import type { EmitConnectorEvent } from '../ipc/connector-events.ts';
import type { HeardEvent } from '../ipc/from-connector.ts';
import type { eventChecker } from './check-event.ts';
import type { SendWithFiles } from './send-with-files.ts';

export class Emits {
  /** Events that are being sent, by id. Their number is bounded, because `send` rejects when too many are queued. */
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(
    private readonly send: EmitConnectorEvent,
    private readonly check: ReturnType<typeof eventChecker>,
    private readonly withFiles: SendWithFiles,
  ) {}

  readonly emit: EmitEvent = (event) => {
    const emitted = this.#begin(event);
    // Invariant 3: prevents an unhandled rejection. A caller that awaits the promise still gets the error.
    emitted.catch(() => undefined);
    return emitted;
  };

  get underWay(): number {
    return this.#underWay.size;
  }

  /** Resolves when no event is being sent. Events that failed count as sent. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay.values());
  }

  #begin(event: ConnectorEvent): Promise<void> {
    try {
      const { id, heard } = this.check(event);
      return this.#underWay.get(id) ?? this.#send(id, heard);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #send(id: string, heard: HeardEvent): Promise<void> {
    const sent = this.withFiles(heard, (stored) => this.send(id, stored)).finally(() => this.#underWay.delete(id));
    this.#underWay.set(id, sent);
    return sent;
  }
}
