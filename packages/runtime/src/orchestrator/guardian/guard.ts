/**
 * What the guardian does, apart from being a process: it listens until the orchestrator stands it down or is gone, and
 * then sees to it that nothing of the run is left.
 */
import type { EndedProcess } from './kill-tagged.ts';

export interface GuardianReport {
  /** What made it act. */
  readonly reason: 'stood-down' | 'orchestrator-gone';
  /** What it found and killed; after a clean shutdown, nothing. */
  readonly ended: readonly EndedProcess[];
  readonly left: readonly EndedProcess[];
  /** `groups`: there is no /proc here, so what left its process group was not found. */
  readonly method: 'tag' | 'groups';
}

export interface GuardDeps {
  /** What the orchestrator says; it ends when the orchestrator does. */
  readonly lines: AsyncIterable<string>;
  /** Ends what is left of the run. `groups` are the process groups it was told of. */
  readonly endRun: (groups: readonly number[], quietMs: number) => Promise<Omit<GuardianReport, 'reason'>>;
}

/** How long nothing may be found before it goes: after a kill somebody may still be between fork and exec. */
const QUIET_AFTER_DEATH_MS = 300;
const QUIET_AFTER_SHUTDOWN_MS = 30;

export async function guard({ lines, endRun }: GuardDeps): Promise<GuardianReport> {
  const groups = new Set<number>();
  for await (const line of lines) {
    const [command = '', argument = ''] = line.split(' ');
    if (command === 'stand-down')
      return { reason: 'stood-down', ...(await endRun([...groups], QUIET_AFTER_SHUTDOWN_MS)) };
    const group = Number(argument);
    if (!Number.isSafeInteger(group) || group <= 1) continue;
    if (command === 'watch') groups.add(group);
    if (command === 'forget') groups.delete(group);
  }
  return { reason: 'orchestrator-gone', ...(await endRun([...groups], QUIET_AFTER_DEATH_MS)) };
}
