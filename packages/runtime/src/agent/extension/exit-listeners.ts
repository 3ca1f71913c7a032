/**
 * Old extensions clean up in `process.on('beforeExit', …)`, which fires neither on SIGTERM nor on process.exit(). The
 * runtime takes the listeners an extension adds while it registers and calls them itself.
 */
import type { Cleanup } from '@goondan/types';

type ExitListener = (code: number) => unknown;

export interface ExitListeners {
  /** Takes them off the process and gives them, in the order they were added. */
  takeOff(): Cleanup[];
}

export function collectExitListeners(): { collected(): ExitListeners } {
  const before = new Set(process.listeners('beforeExit'));
  return {
    collected() {
      const added = process.listeners('beforeExit').filter((listener) => !before.has(listener)) as ExitListener[];
      return {
        takeOff() {
          for (const listener of added) process.off('beforeExit', listener);
          return added.map((listener) => async () => void (await listener.call(process, 0)));
        },
      };
    },
  };
}
