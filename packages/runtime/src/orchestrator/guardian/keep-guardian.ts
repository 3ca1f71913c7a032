/** Keeps a guardian running for the life of the orchestrator: if it exits unexpectedly, it is replaced. */
import { type Clock, sleep } from '../../ports/clock.ts';
import type { GuardianReport } from './guard.ts';
import { type Guardian, type GuardianOptions, startGuardian } from './start-guardian.ts';

/** The pause between two attempts to replace the guardian. */
const RETRY_MS = 1_000;

/** Resolves when the guardian is watching. **Errors** — `E_PROCESS_START`, for the first guardian only. */
export async function keepGuardian(
  options: GuardianOptions & { readonly clock: Clock; readonly warn: (message: string) => void },
  start: (options: GuardianOptions) => Promise<Guardian> = startGuardian,
) {
  const { clock, warn } = options;
  const watched = new Set<number>();
  const state = { isStoodDown: false };
  let current = await start(options);
  void keep(current);
  return {
    /** The process id of the current guardian. */
    get pid(): number {
      return current.pid;
    },
    watch(pid: number): void {
      watched.add(pid);
      current.watch(pid);
    },
    forget(pid: number): void {
      watched.delete(pid);
      current.forget(pid);
    },
    async standDown(): Promise<GuardianReport | undefined> {
      state.isStoodDown = true;
      return current.standDown().catch(() => undefined);
    },
  };

  async function keep(guardian: Guardian): Promise<void> {
    await guardian.exited;
    while (!state.isStoodDown) {
      warn('The guardian process exited; starting a new one.');
      const next = await start(options).catch(() => undefined);
      if (next !== undefined) return take(next);
      await sleep(clock, RETRY_MS);
    }
  }

  function take(next: Guardian): void {
    current = next;
    for (const pid of watched) next.watch(pid);
    if (state.isStoodDown) void next.standDown().catch(() => undefined);
    else void keep(next);
  }
}
