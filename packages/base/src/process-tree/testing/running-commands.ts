/** For tests: lists the command lines of all processes on this machine that contain a text. Linux only. */
import { readdirSync, readFileSync } from 'node:fs';

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
