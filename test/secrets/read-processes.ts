// Lists the descendants of a process, with their environments. Linux only.
import { readdirSync, readFileSync } from 'node:fs';

export interface RunningProcess {
  readonly command: string;
  /** The environment as read from /proc. */
  readonly environment: string;
  /** True for a process that has the operator's environment: the launcher or the orchestrator. */
  readonly isOperators: boolean;
}

export function readProcesses(root: number): RunningProcess[] {
  const parents = new Map(
    readdirSync('/proc')
      .map(Number)
      .filter(Number.isInteger)
      .map((pid) => [pid, parentOf(pid)] as const),
  );
  const isBelow = (pid: number): boolean => {
    const parent = parents.get(pid);
    return pid === root || (parent !== undefined && parent > 0 && isBelow(parent));
  };
  return [...parents.keys()].filter(isBelow).map((pid) => {
    const environment = read(pid, 'environ');
    return {
      command: read(pid, 'cmdline').replaceAll('\0', ' '),
      environment,
      isOperators: environment.includes('MODEL_ENDPOINT='),
    };
  });
}

function parentOf(pid: number): number {
  const stat = read(pid, 'stat');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    // The process has exited meanwhile.
    return '';
  }
}
