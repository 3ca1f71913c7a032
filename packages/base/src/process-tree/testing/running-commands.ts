/** For tests: reads the command lines of the processes on this machine. Linux only. */
import { readdirSync, readFileSync } from 'node:fs';

/** Counts the processes that sleep this number of seconds. The command line of their shell has it, too. */
export function countSleeping(seconds: string): number {
  return runningCommands(`sleep ${seconds}`).filter((line) => line.startsWith('sleep ')).length;
}

/** Lists the command lines of all processes that contain a text. */
export function runningCommands(text: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .map((pid) => readCommandLine(pid))
    .filter((line) => line.includes(text));
}

function readCommandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    // The process has exited meanwhile.
    return '';
  }
}
