/** Reads the processes of this machine from /proc. */
import { readdirSync, readFileSync } from 'node:fs';
import { carriesTag, type ProcessTag, tagsOf } from './process-tag.ts';

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly command: string;
  readonly isTagged: boolean;
}

/** Returns false on systems without a readable /proc. */
export function canReadProcesses(): boolean {
  try {
    readFileSync('/proc/self/environ');
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns every living process, or those of `pids`, without zombies. Yields to other work in between.
 *
 * While a process becomes another program (exec), its environment is empty for a moment. A process without an
 * environment is read once more; if that is still too early, the next scan finds it.
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

/**
 * Returns the tags that a living process, or one of `pids`, has. It reads one file of each process. `readProcesses` also
 * reads a second file, which takes longer.
 */
export async function findTags(tags: ReadonlySet<ProcessTag>, pids = listPids()): Promise<ReadonlySet<ProcessTag>> {
  const found = new Set<ProcessTag>();
  const bare: number[] = [];
  const look = (environment: Uint8Array) => {
    for (const tag of tagsOf(environment)) if (tags.has(tag)) found.add(tag);
  };
  for (const [index, pid] of pids.entries()) {
    const environment = readProc(pid, 'environ');
    if (environment !== undefined) look(environment);
    if (found.size === tags.size) return found;
    if (environment?.length === 0 && readStat(pid)?.parent !== KERNEL) bare.push(pid);
    if (index % AT_ONCE === AT_ONCE - 1) await new Promise((resolve) => void setImmediate(resolve));
  }
  if (bare.length > 0) await Bun.sleep(EXEC_MS);
  for (const pid of bare) look(readProc(pid, 'environ') ?? new Uint8Array());
  return found;
}

/** So few, because the system blocks a read while the process changes its memory, as a starting one does. */
const AT_ONCE = 8;
const EXEC_MS = 2;
/** The parent process of kernel threads, which never have an environment. */
const KERNEL = 2;

function listPids(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger);
}

function readProcess(pid: number, tag: ProcessTag): { entry: ProcessEntry; isBare: boolean } | undefined {
  const stat = readStat(pid);
  if (stat === undefined || stat.state === 'Z' || stat.state === 'X') return undefined;
  const { parent, group, command } = stat;
  const environment = readProc(pid, 'environ');
  return {
    isBare: environment?.length === 0 && parent !== KERNEL,
    entry: { pid, parent, group, command, isTagged: environment !== undefined && carriesTag(environment, tag) },
  };
}

/** Reads the state, parent, group and name of a process. Returns `undefined` when the process has exited. */
export function readStat(pid: number) {
  const bytes = readProc(pid, 'stat');
  if (bytes === undefined) return undefined;
  const stat = new TextDecoder().decode(bytes);
  // The process name is in brackets and may contain anything, even brackets.
  const nameEnd = stat.lastIndexOf(')');
  const [state, parent, group] = stat.slice(nameEnd + 2).split(' ');
  const command = stat.slice(stat.indexOf('(') + 1, nameEnd);
  return { state, parent: Number(parent), group: Number(group), command };
}

/**
 * Reads a file of a process from /proc. Returns `undefined` when the process has exited, or the file may not be read.
 */
export function readProc(pid: number, file: string): Uint8Array | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`);
  } catch {
    return undefined;
  }
}
