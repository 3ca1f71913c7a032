/**
 * Sends the output and the runtime events of turns, but only the kinds that a watcher of the swarm wants. The turn so
 * far is kept, for watchers that come later.
 */
import type { JsonObject, TurnDelta } from '@goondan/types';
import type { FromAgent } from '../../ipc/from-agent.ts';
import type { ToAgent, WatchedKind } from '../../ipc/to-agent.ts';
import type { AgentChannel } from './process-host.ts';
import { TurnBacklog } from './turn-backlog.ts';

export class TurnWatch {
  readonly #backlog = new TurnBacklog();
  #kinds: ReadonlySet<WatchedKind>;
  /** The event of the running turn. */
  #running: string | undefined;

  constructor(
    private readonly channel: Pick<AgentChannel, 'send'>,
    kinds: readonly WatchedKind[] = [],
  ) {
    this.#kinds = new Set(kinds);
  }

  hear({ kinds, soFar, during }: Extract<ToAgent, { readonly type: 'watch' }>): void {
    const added = new Set(kinds.filter((kind) => !this.#kinds.has(kind)));
    this.#kinds = new Set(kinds);
    if (soFar === true) return this.#send({ type: 'so.far', ...this.#backlog.soFar() });
    // The turn was handed ahead and has begun, but to the watcher it begins later. So the watcher gets all of it.
    return during === this.#running ? undefined : this.#sendMissed(added);
  }

  turnBegan(eventId: string): void {
    this.#running = eventId;
  }

  wrote(eventId: string, delta: TurnDelta): void {
    this.#backlog.wrote(eventId, delta);
    if (this.#kinds.has('delta')) this.#send({ type: 'delta', eventId, delta });
  }

  happened(name: string, payload: JsonObject): void {
    this.#backlog.happened(name, payload);
    if (this.#kinds.has('runtime.event')) this.#send({ type: 'runtime.event', name, payload });
  }

  turnEnded(): void {
    this.#backlog.over();
    this.#running = undefined;
  }

  #sendMissed(kinds: ReadonlySet<WatchedKind>): void {
    const { events, deltas } = this.#backlog.soFar();
    if (kinds.has('runtime.event')) for (const event of events) this.#send({ type: 'runtime.event', ...event });
    if (kinds.has('delta')) for (const { eventId, delta } of deltas) this.#send({ type: 'delta', eventId, delta });
  }

  /** A lost frame does no harm, because the result of the turn follows. */
  #send(frame: FromAgent): void {
    this.channel.send(frame).catch(() => undefined);
  }
}
