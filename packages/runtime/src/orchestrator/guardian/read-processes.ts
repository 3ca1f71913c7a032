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

/**
 * Every living process, or those of `pids`; not the dead that nobody has buried yet. Gives way to other work now and then.
 *
 * A process that is just becoming another program shows no environment for a moment. Whoever shows none is looked at
 * once more; whoever takes longer is found by the next look.
 */
export async function readProcesses(tag: ProcessTag, pids = listPids()): Promise<ProcessEntry[]> {
  const entries = new Map<number, ProcessEntry>();
  const bare: number[] = [];
  for (const [index, pid] of pids.entries()) {
    const found = readProcess(pid, tag);
    if (found !== undefined) entries.set(pid, found.entry);
    if (found?.isBare) bare.push(pid);
    if (index % AT_ONCE === AT_ONCE - 1) await new Promise((resolve) => void setImmediate(resolve));
  }
  if (bare.length > 0) await Bun.sleep(EXEC_MS);
  for (const pid of bare) {
    const found = readProcess(pid, tag);
    if (found === undefined) entries.delete(pid);
    else entries.set(pid, found.entry);
  }
  return [...entries.values()];
}

const AT_ONCE = 32;
const EXEC_MS = 2;
/** The parent of the kernel's own threads, which never have an environment. */
const KERNEL = 2;

function listPids(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger);
}

function readProcess(pid: number, tag: ProcessTag): { entry: ProcessEntry; isBare: boolean } | undefined {
  const stat = readProc(pid, 'stat')?.toString();
  if (stat === undefined) return undefined;
  // The name stands in brackets and may hold anything, brackets too.
  const nameEnd = stat.lastIndexOf(')');
  const [state, parent, group] = stat.slice(nameEnd + 2).split(' ');
  if (state === 'Z' || state === 'X') return undefined;
  const environment = readProc(pid, 'environ');
  return {
    isBare: environment?.length === 0 && Number(parent) !== KERNEL,
    entry: {
      pid,
      parent: Number(parent),
      group: Number(group),
      command: stat.slice(stat.indexOf('(') + 1, nameEnd),
      isTagged: environment !== undefined && carriesTag(environment, tag),
    },
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
