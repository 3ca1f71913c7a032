/**
 * Old extensions clean up in `process.on('beforeExit', …)`, which fires neither on SIGTERM nor on process.exit(). The
 * runtime takes the listeners an extension adds while it registers and calls them itself.
 */
type ExitListener = (code: number) => unknown;

export interface ExitListeners {
  /** Calls and awaits them, in the order they were added, and takes them off the process. */
  run(): Promise<void>;
  remove(): void;
}

export function collectExitListeners(): { collected(): ExitListeners } {
  const before = new Set(process.listeners('beforeExit'));
  return {
    collected() {
      const added = process.listeners('beforeExit').filter((listener) => !before.has(listener)) as ExitListener[];
      const remove = () => {
        for (const listener of added) process.off('beforeExit', listener);
      };
      return {
        remove,
        async run() {
          remove();
          for (const listener of added) await listener.call(process, 0);
        },
      };
    },
  };
}
