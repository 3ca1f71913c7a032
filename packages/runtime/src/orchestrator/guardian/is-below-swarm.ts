/**
 * Returns true if a process runs inside a swarm: it or one of its ancestors carries the tag of a run. A program can
 * evade this check on purpose, so it is not a security boundary.
 */
import { CHILD_VARIABLE, RUN_VARIABLE } from './process-tag.ts';
import { readProc, readStat } from './read-processes.ts';

const names: readonly string[] = [RUN_VARIABLE, CHILD_VARIABLE];
/**
 * The maximum number of ancestors to check, which is more than shells are ever nested. The limit is needed because
 * /proc could show a cycle while processes change.
 */
const HIGHEST = 256;

export function isBelowSwarm(
  environment: Readonly<Record<string, string | undefined>> = process.env,
  parent = process.ppid,
): boolean {
  if (names.some((name) => environment[name] !== undefined)) return true;
  let pid = parent;
  for (let height = 0; pid > 1 && height < HIGHEST; height++) {
    if (isTagged(pid)) return true;
    pid = readStat(pid)?.parent ?? 0;
  }
  return false;
}

function isTagged(pid: number): boolean {
  const entries = Buffer.from(readProc(pid, 'environ') ?? [])
    .toString('latin1')
    .split('\0');
  return entries.some((entry) => names.some((name) => entry.startsWith(`${name}=`)));
}
