/** Reads the memory and the processor time of processes. Works on Linux only; elsewhere nothing is known. */
import { readFileSync } from 'node:fs';

export interface ProcessMemory {
  readonly residentMegabytes: number;
  /** Memory that the process shares with no other process. */
  readonly ownMegabytes: number;
}

export function memoryOf(pid: number): ProcessMemory | undefined {
  const rollup = readProc(`${pid}/smaps_rollup`);
  if (rollup === undefined) return undefined;
  const megabytes = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(rollup)?.[1]) / 1_024;
  return {
    residentMegabytes: megabytes('Rss'),
    ownMegabytes: megabytes('Private_Clean') + megabytes('Private_Dirty'),
  };
}

export function describeMemory(pid: number): string {
  const memory = memoryOf(pid);
  if (memory === undefined) return 'not told by this system';
  return `${memory.residentMegabytes.toFixed(1)} MB resident, ${memory.ownMegabytes.toFixed(1)} MB of its own`;
}

const TICKS_PER_SECOND = 100;

/** Returns the processor time that a process has used so far, in milliseconds; 0 when it is unknown. */
export function processorMs(pid: number): number {
  const stat = readProc(`${pid}/stat`);
  if (stat === undefined) return 0;
  // The name of the program, which is in parentheses, may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS_PER_SECOND;
}

function readProc(path: string): string | undefined {
  try {
    return readFileSync(`/proc/${path}`, 'utf8');
  } catch {
    return undefined;
  }
}
