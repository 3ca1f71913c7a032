/**
 * Checks whether processes are alive. The check is passed as a parameter. A lock file names the process that owns it,
 * and only this check shows whether that process has exited.
 */
import { readFileSync } from 'node:fs';

/**
 * The identity of a process. Its id alone is not enough, because ids are reused, after a reboot perhaps even by the
 * same program.
 */
export interface ProcessIdentity {
  readonly pid: number;
  /** The start time of the process. Another process with the same id has another start time. */
  readonly startedAt: string;
}

export interface Processes {
  self(): ProcessIdentity;
  isAlive(process: ProcessIdentity): boolean;
}

export const systemProcesses: Processes = {
  self: () => ({ pid: process.pid, startedAt: startOf(process.pid) ?? 'unknown' }),
  isAlive({ pid, startedAt }) {
    if (!exists(pid)) return false;
    const start = startOf(pid);
    if (start === 'ended') return false;
    // If the start time is unknown, the process counts as alive and keeps its lock.
    return start === undefined || startedAt === 'unknown' || start === startedAt;
  },
};

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/**
 * Reads the start time of a process: on Linux the boot id and the ticks since boot, elsewhere the output of `ps`.
 * Returns `undefined` when neither works, and `ended` for a zombie.
 */
function startOf(pid: number): string | undefined {
  return startFromProc(pid) ?? startFromPs(pid);
}

/** Returns the random id that this machine has since its last boot, or `undefined`. */
export function bootId(): string | undefined {
  return bootFromProc() ?? readOutput('sysctl', ['-n', 'kern.bootsessionuuid']);
}

function bootFromProc(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

function startFromProc(pid: number): string | undefined {
  try {
    const boot = bootFromProc();
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in brackets and may contain anything. The third is the state, and the 22nd
    // the start time.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return 'ended';
    return boot && fields[19] && `${boot}:${fields[19]}`;
  } catch {
    return undefined;
  }
}

function startFromPs(pid: number): string | undefined {
  return readOutput('ps', ['-o', 'lstart=', '-p', String(pid)]);
}

function readOutput(program: string, given: readonly string[]): string | undefined {
  try {
    const { spawnSync } = process.getBuiltinModule('node:child_process');
    const { status, stdout } = spawnSync(program, given);
    return status === 0 ? stdout.toString().trim() || undefined : undefined;
  } catch {
    return undefined;
  }
}
