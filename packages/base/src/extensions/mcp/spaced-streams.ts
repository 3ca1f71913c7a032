import type { Clock } from './clock.ts';
import type { FetchLike } from './sdk.ts';
import { unlessAborted } from './unless-aborted.ts';

/** The minimum time between two openings of the stream of a server. */
const PAUSE_MS = 100;

/**
 * Opens the stream of a server, which is a GET request, at most ten times a second. A server tells the SDK how soon to open it again, and
 * may say at once, each time that it ends the stream.
 */
export function spacedStreams(send: FetchLike, clock: Clock): FetchLike {
  let next = -Infinity;
  return async (url, init) => {
    if (init?.method !== 'GET') return send(url, init);
    const now = clock.elapsed();
    const waitMs = Math.max(0, next - now);
    next = now + waitMs + PAUSE_MS;
    if (waitMs > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const callOff = clock.after(waitMs, resolve);
      try {
        await unlessAborted(promise, init.signal ?? undefined);
      } finally {
        callOff();
      }
    }
    return send(url, init);
  };
}
