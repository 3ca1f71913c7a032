import type { ExtensionEventsApi } from '@goondan/types';
import type { OldEventBus, OldEventHandler } from './old-types.ts';

/** Makes the event bus of v0.10, which also has `once` and `off`. */
export function oldEvents(events: ExtensionEventsApi): OldEventBus {
  const subscribed = new Map<string, Map<OldEventHandler, (() => void)[]>>();

  function on(type: string, handler: OldEventHandler): () => void {
    return subscribe(type, handler, () => undefined);
  }

  function once(type: string, handler: OldEventHandler): () => void {
    const off = subscribe(type, handler, () => off());
    return off;
  }

  function subscribe(type: string, handler: OldEventHandler, beforeCall: () => void): () => void {
    const handlers = subscribed.get(type) ?? new Map<OldEventHandler, (() => void)[]>();
    const unsubscribe = events.on(type, (...args): unknown => {
      beforeCall();
      return Reflect.apply(handler, undefined, args);
    });
    const off = () => {
      unsubscribe();
      const others = (handlers.get(handler) ?? []).filter((each) => each !== off);
      if (others.length > 0) handlers.set(handler, others);
      else handlers.delete(handler);
      if (handlers.size === 0) subscribed.delete(type);
    };
    handlers.set(handler, [...(handlers.get(handler) ?? []), off]);
    subscribed.set(type, handlers);
    return off;
  }

  return Object.freeze({
    on,
    once,
    off: (type: string, handler: OldEventHandler) =>
      subscribed
        .get(type)
        ?.get(handler)
        ?.forEach((off) => off()),
    emit: (type: string, ...payload: unknown[]) => events.emit(type, ...payload),
  });
}
