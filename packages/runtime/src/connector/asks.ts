/**
 * `ctx.ask`: from a connector's call to the end of the turn that answers it.
 *
 * Invariants:
 * 1. As with `emit`, the event is checked and encoded when `ask` is called, and an unhandled rejection does not end the
 *    process.
 * 2. After the signal has aborted, or after the answer, no callback is called.
 * 3. A callback that throws is logged. It is a mistake of the connector and ends neither the ask nor the process.
 */
import { type AskSwarm, type ConnectorAnswer, type ConnectorAskOptions, GoondanError } from '@goondan/types';
import type { ConnectorAsker } from '../ipc/connector-asks.ts';
import type { HeardEvent } from '../ipc/from-connector.ts';
import type { eventChecker } from './check-event.ts';
import type { SendWithFiles } from './send-with-files.ts';

export class Asks {
  readonly #underWay = new Set<Promise<ConnectorAnswer>>();

  /** `onThrown` is called with the error that a callback of the connector threw. */
  constructor(
    private readonly asker: ConnectorAsker,
    private readonly check: ReturnType<typeof eventChecker>,
    private readonly onThrown: (error: unknown) => void,
    private readonly withFiles: SendWithFiles,
  ) {}

  readonly ask: AskSwarm = (event, options = {}) => {
    const asked = this.#ask(event, options).finally(() => this.#underWay.delete(asked));
    this.#underWay.add(asked);
    // Prevents an unhandled rejection. A caller that awaits the promise still gets the error.
    asked.catch(() => undefined);
    return asked;
  };

  get underWay(): number {
    return this.#underWay.size;
  }

  /** Resolves when no ask is open. Asks that failed count as ended. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }

  /** Rejects the open asks, because no answer will arrive in this process. */
  giveUp(): void {
    this.asker.refuseAll(
      new GoondanError(
        'E_SWARM_STOPPED',
        'The connector has to stop; the turn continues, or resumes when the swarm is started again.',
      ),
    );
  }

  async #ask(event: unknown, options: ConnectorAskOptions): Promise<ConnectorAnswer> {
    options.signal?.throwIfAborted();
    options.left?.throwIfAborted();
    const { id, heard } = this.check(event);
    return this.withFiles(heard, (stored) => this.#send(id, stored, options));
  }

  async #send(id: string, heard: HeardEvent, options: ConnectorAskOptions): Promise<ConnectorAnswer> {
    const { signal, cancelOnAbort = false, left, onAccepted, onDelta } = options;
    signal?.throwIfAborted();
    left?.throwIfAborted();
    const ask = this.asker.ask(id, heard, {
      onAccepted: this.#guard(onAccepted),
      ...(onDelta === undefined ? {} : { onDelta: this.#guard(onDelta) }),
    });
    const giveUp = () => ask.leave(signal?.reason, cancelOnAbort);
    const leave = () => ask.leave(left?.reason, false);
    signal?.addEventListener('abort', giveUp, { once: true });
    left?.addEventListener('abort', leave, { once: true });
    try {
      return await ask.answer;
    } finally {
      signal?.removeEventListener('abort', giveUp);
      left?.removeEventListener('abort', leave);
    }
  }

  /** Wraps a callback so that its errors are logged (invariant 3). */
  #guard<Value>(callback: ((value: Value) => void) | undefined): (value: Value) => void {
    return (value) => {
      try {
        callback?.(value);
      } catch (error) {
        this.onThrown(error);
      }
    };
  }
}
