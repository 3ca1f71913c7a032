/**
 * Older extensions clean up in `process.on('beforeExit', …)`, which fires neither on SIGTERM nor on process.exit(). The
 * runtime therefore removes the listeners that an extension adds during `register`, and calls them itself.
 */
import type { Cleanup } from '@goondan/types';

export function collectExitListeners() {
  const before = new Set(process.listeners('beforeExit'));
  return {
    collected() {
      const added = process.listeners('beforeExit').filter((listener) => !before.has(listener));
      return {
        /** Removes the listeners from the process and returns them, in the order they were added. */
        takeOff(): Cleanup[] {
          for (const listener of added) process.off('beforeExit', listener);
          return added.map((listener) => async () => {
            // Safe: the type says void, but an async listener returns a promise that must be awaited.
            await (listener.call(process, 0) as unknown);
          });
        },
      };
    },
  };
}
