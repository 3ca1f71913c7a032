/**
 * Ends a command and everything it started: first with SIGTERM, then with SIGKILL. The process tree is read repeatedly,
 * so a process that forks while it is being killed is found the next time.
 */
import { canReadTree, readTree, type TreeRoot } from './read-tree.ts';

/**
 * The number of looks, two seconds or more, after which a process that does not exit after SIGKILL is given up: a process
 * that waits for a broken disk cannot be killed. On a busy machine, time may pass in which neither process runs.
 */
const MOST_KILLS = 100;
const BETWEEN_LOOKS_MS = 20;
/**
 * The tree must be empty this many times in a row, because a process between fork and exec may not show its tag yet.
 */
const QUIET_LOOKS = 2;

/**
 * Ends the processes. Resolves with the number of processes that could not be ended. `graceMs` is the time between
 * SIGTERM and SIGKILL; if it is 0, no SIGTERM is sent. `notAsked` is the pid of a process that gets no SIGTERM, because
 * that process would end the others before they can react.
 */
export async function endTree(
  root: TreeRoot,
  { graceMs, notAsked }: { readonly graceMs: number; readonly notAsked?: number | undefined },
): Promise<number> {
  if (!canReadTree()) return endGroup(root.pid, graceMs);
  const startedAt = performance.now();
  if (graceMs > 0) for (const pid of readTree(root)) if (pid !== notAsked) signal(pid, 'SIGTERM');
  let quietLooks = 0;
  let kills = 0;
  for (;;) {
    const living = readTree(root);
    if (living.length > 0) quietLooks = 0;
    else if (++quietLooks === QUIET_LOOKS) return 0;
    if (kills === MOST_KILLS) return living.length;
    if (performance.now() - startedAt >= graceMs) {
      for (const pid of living) signal(pid, 'SIGKILL');
      kills += 1;
    }
    await Bun.sleep(BETWEEN_LOOKS_MS);
  }
}

/** Kills the tree at once, for a process that is about to exit and cannot wait. */
export function killTreeNow(root: TreeRoot): void {
  signal(-root.pid, 'SIGKILL');
  if (canReadTree()) for (const pid of readTree(root)) signal(pid, 'SIGKILL');
}

async function endGroup(group: number, graceMs: number): Promise<number> {
  const startedAt = performance.now();
  if (graceMs > 0) signal(-group, 'SIGTERM');
  let kills = 0;
  while (isThere(-group)) {
    if (kills === MOST_KILLS) return 1;
    if (performance.now() - startedAt >= graceMs) {
      signal(-group, 'SIGKILL');
      kills += 1;
    }
    await Bun.sleep(BETWEEN_LOOKS_MS);
  }
  return 0;
}

function isThere(target: number): boolean {
  return signal(target, 0);
}

function signal(target: number, name: 'SIGTERM' | 'SIGKILL' | 0): boolean {
  try {
    process.kill(target, name);
    return true;
  } catch {
    // The process has exited, or it belongs to another user. In the second case, the next look finds it again.
    return false;
  }
}
