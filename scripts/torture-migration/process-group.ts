import { until } from '../../test/until.ts';
/** Commands that run as process groups of their own, so that they can be killed with everything they started. */

export interface Group {
  readonly exited: Promise<number>;
  /** Returns false if the group had already ended. */
  readonly kill: () => boolean;
  /** Resolves when no process of the group is left. */
  readonly gone: () => Promise<void>;
  /** The text on standard error, when the group has ended. */
  readonly errors: () => Promise<string>;
}

const running = new Set<Group>();

export function startGroup(command: readonly string[], cwd = process.cwd()): Group {
  const child = Bun.spawn([...command], { cwd, stdio: ['ignore', 'ignore', 'pipe'], detached: true });
  const errors = new Response(child.stderr).text();
  const signal = (number: NodeJS.Signals | 0) => {
    try {
      return process.kill(-child.pid, number);
    } catch {
      return false;
    }
  };
  const group: Group = {
    exited: child.exited.finally(() => running.delete(group)),
    kill: () => signal('SIGKILL'),
    async gone() {
      await child.exited;
      await until(() => !signal(0));
    },
    errors: () => errors,
  };
  running.add(group);
  return group;
}

/** Kills what still runs. */
export function killGroups(): void {
  for (const group of running) group.kill();
}
