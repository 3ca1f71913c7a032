/** The bus inside an agent: the runtime's own events, and whatever extensions tell each other. */
import type { ExtensionEventsApi, RuntimeEventName, RuntimeEvents } from '@goondan/types';
import { STATUS_EVENT } from './extension-statuses.ts';

type Handler = (...args: unknown[]) => unknown;

/** Must not throw. */
export type RuntimeEventWatcher = (event: RuntimeEventName, payload: object) => void;

export class EventBus {
  private readonly handlers = new Map<string, Set<Handler>>();
  private readonly watchers = new Set<RuntimeEventWatcher>();

  constructor(private readonly onHandlerError: (event: string, error: unknown) => void) {}

  /** Each subscription is its own, even of the same function. */
  on(event: string, handler: Handler): () => void {
    const subscription: Handler = (...args) => handler(...args);
    const subscribed = this.handlers.get(event) ?? new Set();
    this.handlers.set(event, subscribed.add(subscription));
    return () => {
      subscribed.delete(subscription);
      if (subscribed.size === 0 && this.handlers.get(event) === subscribed) this.handlers.delete(event);
    };
  }

  emit(event: string, ...args: unknown[]): void {
    for (const handler of [...(this.handlers.get(event) ?? [])]) this.callOne(event, handler, args);
  }

  /** The runtime's own events; the payload is only made when somebody listens. */
  tell<Name extends RuntimeEventName>(event: Name, payload: () => RuntimeEvents[Name]): void {
    if (this.watchers.size === 0 && !this.handlers.has(event)) return;
    const told = Object.freeze(payload());
    for (const watcher of this.watchers) watcher(event, told);
    this.emit(event, told);
  }

  /** Every event of the runtime itself, and nothing that extensions emit under the same names. */
  watch(watcher: RuntimeEventWatcher): () => void {
    this.watchers.add(watcher);
    return () => void this.watchers.delete(watcher);
  }

  private callOne(event: string, handler: Handler, args: unknown[]): void {
    try {
      const returned = handler(...args);
      if (returned instanceof Promise) returned.catch((error: unknown) => this.onHandlerError(event, error));
    } catch (error) {
      this.onHandlerError(event, error);
    }
  }
}

/** What an extension gets of the bus. Its own status is told by the runtime, which knows whose it is. */
export function eventsApi(bus: EventBus, tellStatus: (status: unknown) => void): ExtensionEventsApi {
  return Object.freeze({
    on: (event: string, handler: (payload: never) => void) => bus.on(event, handler as Handler),
    emit: (event: string, ...args: unknown[]) =>
      event === STATUS_EVENT ? tellStatus(args[0]) : bus.emit(event, ...args),
  }) as ExtensionEventsApi;
}
