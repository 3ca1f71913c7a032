/** Finds the processes of a run, as the system lists them. */
import { readdirSync, readFileSync } from 'node:fs';

/** Lists living processes that have this entry in their environment. */
export function findTagged(tag: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => isLiving(pid) && environmentOf(pid).includes(`${tag}\0`));
}

/**
 * Waits until no process is left, and returns the time that this took; `undefined` when some are left after `limitMs`.
 */
export async function waitUntilGone(tag: string, limitMs: number): Promise<number | undefined> {
  const startedAt = performance.now();
  for (;;) {
    const isGone = findTagged(tag).length === 0;
    const elapsed = performance.now() - startedAt;
    if (isGone) return elapsed;
    if (elapsed > limitMs) return undefined;
    await Bun.sleep(10);
  }
}

function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return '';
  }
}

function isLiving(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}
