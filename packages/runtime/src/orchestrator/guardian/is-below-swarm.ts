/**
 * Returns true if a process runs inside a swarm: it or one of its ancestors carries the tag of a run. A program can
 * evade this check on purpose, so it is not a security boundary.
 */
import { readFileSync } from 'node:fs';
import { CHILD_VARIABLE, RUN_VARIABLE } from './process-tag.ts';

const names: readonly string[] = [RUN_VARIABLE, CHILD_VARIABLE];
/** The maximum number of ancestors: more than shells are ever nested. /proc could show a cycle while it changes. */
const HIGHEST = 256;

export function isBelowSwarm(
  environment: Readonly<Record<string, string | undefined>> = process.env,
  parent = process.ppid,
): boolean {
  if (names.some((name) => environment[name] !== undefined)) return true;
  let pid = parent;
  for (let height = 0; pid > 1 && height < HIGHEST; height++) {
    if (isTagged(pid)) return true;
    pid = parentOf(pid);
  }
  return false;
}

function isTagged(pid: number): boolean {
  const entries = readProc(pid, 'environ').split('\0');
  return entries.some((entry) => names.some((name) => entry.startsWith(`${name}=`)));
}

function parentOf(pid: number): number {
  const stat = readProc(pid, 'stat');
  // The process name is in brackets and may contain anything, even brackets.
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0);
}

/** Returns an empty text when the process has exited, or its file may not be read. */
function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}
