/**
 * Ends a command and everything it started. First politely, then not: what forks while it is being killed is found by
 * the next look.
 */
import { canReadTree, readTree, type TreeRoot } from './read-tree.ts';

export interface EndTreeOptions {
  /** Between SIGTERM and SIGKILL; with 0 there is no SIGTERM. */
  readonly graceMs: number;
  /** Not asked politely, because it would take the others with it before they can answer. */
  readonly notAsked?: number | undefined;
}

/** When to give up on what does not die: a process that waits for a broken disk cannot. */
const GIVE_UP_MS = 2_000;
const BETWEEN_LOOKS_MS = 20;
/** Somebody may be between fork and exec, and not show its tag yet. */
const QUIET_LOOKS = 2;

/** Resolves when nothing is left, with the number of those that could not be ended. */
export async function endTree(root: TreeRoot, { graceMs, notAsked }: EndTreeOptions): Promise<number> {
  if (!canReadTree()) return endGroup(root.pid, graceMs);
  const startedAt = performance.now();
  if (graceMs > 0) for (const pid of readTree(root)) if (pid !== notAsked) signal(pid, 'SIGTERM');
  let quietLooks = 0;
  for (;;) {
    const elapsed = performance.now() - startedAt;
    const living = readTree(root);
    if (living.length > 0) quietLooks = 0;
    else if (++quietLooks === QUIET_LOOKS) return 0;
    if (elapsed >= graceMs) for (const pid of living) signal(pid, 'SIGKILL');
    if (elapsed >= graceMs + GIVE_UP_MS) return living.length;
    await Bun.sleep(BETWEEN_LOOKS_MS);
  }
}

/** For a process that is about to exit and cannot wait. */
export function killTreeNow(root: TreeRoot): void {
  signal(-root.pid, 'SIGKILL');
  if (canReadTree()) for (const pid of readTree(root)) signal(pid, 'SIGKILL');
}

async function endGroup(group: number, graceMs: number): Promise<number> {
  const startedAt = performance.now();
  if (graceMs > 0) signal(-group, 'SIGTERM');
  while (isThere(-group)) {
    const elapsed = performance.now() - startedAt;
    if (elapsed >= graceMs) signal(-group, 'SIGKILL');
    if (elapsed >= graceMs + GIVE_UP_MS) return 1;
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
    // Gone meanwhile; or not ours, and then it is found again.
    return false;
  }
}
