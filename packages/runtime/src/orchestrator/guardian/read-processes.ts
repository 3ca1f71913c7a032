/** The processes of this machine, from /proc. */
import { readdirSync, readFileSync } from 'node:fs';
import { carriesTag, type ProcessTag } from './process-tag.ts';

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly command: string;
  readonly isTagged: boolean;
}

/** False where there is no /proc to read. */
export function canReadProcesses(): boolean {
  try {
    readFileSync('/proc/self/environ');
    return true;
  } catch {
    return false;
  }
}

/** Every living process; not the dead that nobody has buried yet. Gives way to other work now and then. */
export async function readProcesses(tag: ProcessTag): Promise<ProcessEntry[]> {
  const entries: ProcessEntry[] = [];
  let read = 0;
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const entry = readProcess(pid, tag);
    if (entry !== undefined) entries.push(entry);
    read += 1;
    if (read % AT_ONCE === 0) await new Promise((resolve) => void setImmediate(resolve));
  }
  return entries;
}

const AT_ONCE = 32;

function readProcess(pid: number, tag: ProcessTag): ProcessEntry | undefined {
  const stat = readProc(pid, 'stat')?.toString();
  if (stat === undefined) return undefined;
  // The name stands in brackets and may hold anything, brackets too.
  const nameEnd = stat.lastIndexOf(')');
  const [state, parent, group] = stat.slice(nameEnd + 2).split(' ');
  if (state === 'Z' || state === 'X') return undefined;
  const environment = readProc(pid, 'environ');
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    command: stat.slice(stat.indexOf('(') + 1, nameEnd),
    isTagged: environment !== undefined && carriesTag(environment, tag),
  };
}

/** Undefined when the process is gone meanwhile, or is not ours to look at. */
function readProc(pid: number, file: string): Buffer | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`);
  } catch {
    return undefined;
  }
}
