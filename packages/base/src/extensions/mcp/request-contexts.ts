/**
 * Hears the answer to a request in the asynchronous context in which the request was sent. Messages over stdio come in one
 * stream, so without this the answers of all requests would be heard in the context of the connection.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

type Restore = ReturnType<typeof AsyncLocalStorage.snapshot>;

export class RequestContexts {
  readonly #contexts = new Map<unknown, Restore>();

  /** Remembers the context of a request until its answer is heard, or the request is cancelled. */
  sent(message: unknown): void {
    const { id, method, params } = fieldsOf(message);
    if (method === 'notifications/cancelled') this.#contexts.delete(params?.requestId);
    else if (id !== undefined && method !== undefined) this.#contexts.set(id, AsyncLocalStorage.snapshot());
  }

  /** Calls `hear`, in the context of the request if the message is an answer. */
  within(message: unknown, hear: () => void): void {
    const { id, method } = fieldsOf(message);
    const restore = method === undefined ? this.#contexts.get(id) : undefined;
    if (restore === undefined) return hear();
    this.#contexts.delete(id);
    restore(hear);
  }
}

/** The fields that this file reads. All may be absent, or of another type. */
interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: { readonly requestId?: unknown };
}

function fieldsOf(message: unknown): Message {
  return typeof message === 'object' && message !== null ? message : {};
}
