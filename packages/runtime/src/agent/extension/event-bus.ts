/** The event bus of an agent: it carries runtime events, and events that extensions emit for each other. */
import type { ExtensionEventsApi, RuntimeEventName, RuntimeEvents } from '@goondan/types';
import { SECRETS_EVENT } from './extension-secrets.ts';
import { STATUS_EVENT } from './extension-statuses.ts';

export type Handler = (...args: unknown[]) => unknown;

export class EventBus {
  private readonly handlers = new Map<string, Set<Handler>>();
  private readonly watchers = new Set<(event: RuntimeEventName, payload: object) => void>();

  constructor(private readonly onHandlerError: (event: string, error: unknown, extension?: string) => void) {}

  /** Subscribes a handler of `extension`. The same function may subscribe more than once. */
  on(event: string, handler: Handler, extension?: string): () => void {
    const subscription: Handler = (...args) => this.callOne(event, handler, args, extension);
    const subscribed = this.handlers.get(event) ?? new Set();
    this.handlers.set(event, subscribed.add(subscription));
    return () => {
      subscribed.delete(subscription);
      if (subscribed.size === 0 && this.handlers.get(event) === subscribed) this.handlers.delete(event);
    };
  }

  emit(event: string, ...args: unknown[]): void {
    for (const subscription of [...(this.handlers.get(event) ?? [])]) subscription(...args);
  }

  /** Publishes a runtime event. The payload is built only if the event has a handler or a watcher. */
  tell<Name extends RuntimeEventName>(event: Name, payload: () => RuntimeEvents[Name]): void {
    if (this.watchers.size === 0 && !this.handlers.has(event)) return;
    const told = Object.freeze(payload());
    for (const watcher of this.watchers) watcher(event, told);
    this.emit(event, told);
  }

  /**
   * Watches every runtime event, but not events that extensions emit under the same names. The watcher must not throw.
   */
  watch(watcher: (event: RuntimeEventName, payload: object) => void): () => void {
    this.watchers.add(watcher);
    return () => void this.watchers.delete(watcher);
  }

  private callOne(event: string, handler: Handler, args: unknown[], extension: string | undefined): void {
    const failed = (error: unknown) => this.onHandlerError(event, error, extension);
    try {
      const returned = handler(...args);
      if (returned instanceof Promise) returned.catch(failed);
    } catch (error) {
      failed(error);
    }
  }
}

/**
 * Returns the bus as an extension sees it. An extension's status event is published by the runtime, which adds the name
 * of the extension. Secrets of an extension are not published.
 */
export function eventsApi(
  bus: Pick<EventBus, 'on' | 'emit'>,
  extension: string | undefined,
  { tellStatus, keepSecrets }: Readonly<Record<'tellStatus' | 'keepSecrets', (value: unknown) => void>>,
): ExtensionEventsApi {
  return Object.freeze({
    on: (event: string, handler: (payload: never) => void) => bus.on(event, handler as Handler, extension),
    emit(event: string, ...args: unknown[]) {
      if (event === STATUS_EVENT) return tellStatus(args[0]);
      if (event === SECRETS_EVENT) return keepSecrets(args[0]);
      bus.emit(event, ...args);
    },
  }) as ExtensionEventsApi;
}
