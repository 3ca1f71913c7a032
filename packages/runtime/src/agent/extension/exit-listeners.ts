/**
 * Older extensions clean up in `process.on('beforeExit', …)`, which fires neither on SIGTERM nor on process.exit(). The
 * runtime therefore removes the listeners of an agent's code from the process, and calls them itself.
 */
import type { Cleanup } from '@goondan/types';

/**
 * Collected listeners that have not been removed yet. They stay on the process, whose listeners all agents of a test
 * share: without this set, another agent would collect them again.
 */
const collectedBefore = new WeakSet<NodeJS.BeforeExitListener>();

/** Starts to collect the listeners that are added to the process from now on. */
export function collectExitListeners() {
  const before = process.listeners('beforeExit');
  return {
    /** Collects the listeners added so far. Listeners that were collected by another call are left out. */
    collected() {
      const added = without(process.listeners('beforeExit'), before).filter((each) => !collectedBefore.has(each));
      for (const listener of added) collectedBefore.add(listener);
      return {
        /** Removes the listeners from the process and returns those that were still there, in the order of adding. */
        takeOff(): Cleanup[] {
          const present = added.filter((listener) => process.listeners('beforeExit').includes(listener));
          for (const listener of added) collectedBefore.delete(listener);
          for (const listener of present) process.off('beforeExit', listener);
          return present.map((listener) => async () => {
            // Safe: the type says void, but an async listener returns a promise that must be awaited.
            await (listener.call(process, 0) as unknown);
          });
        },
      };
    },
  };
}

/** Returns the listeners without those of an earlier list. A function that was added once more is in the result once. */
function without<Listener>(listeners: readonly Listener[], earlier: readonly Listener[]): Listener[] {
  const left = [...earlier];
  return listeners.filter((listener) => {
    const index = left.indexOf(listener);
    if (index >= 0) left.splice(index, 1);
    return index < 0;
  });
}
