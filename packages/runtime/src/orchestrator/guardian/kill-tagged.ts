/**
 * Ends every process of a run by its tag, and repeats until none is left, because processes may be forked during the
 * kill. It uses SIGKILL only, because the processes had their chance to drain before.
 */
import { type Clock, sleep, systemClock } from '../../ports/clock.ts';
import { chooseVictims } from './choose-victims.ts';
import { checkTag, isTag } from './process-tag.ts';
import { canReadProcesses, findTags, type ProcessEntry, readProcesses } from './read-processes.ts';

/** The time after which it gives up on processes that do not die, such as one that waits for a broken disk. */
const TIMEOUT_MS = 5_000;

export interface KillReport {
  /** Killed processes, each listed once. */
  readonly ended: readonly Pick<ProcessEntry, 'pid' | 'command'>[];
  /** Processes that were still alive when the time was over. */
  readonly left: KillReport['ended'];
}

/**
 * Ends the processes. Linux only: see `canReadProcesses`. It ends when it has found no new process for `quietMs`,
 * because a process that is between fork and exec may have no tag yet.
 */
export async function killTagged(tag: string, quietMs = 0, clock: Clock = systemClock): Promise<KillReport> {
  const wanted = checkTag(tag);
  const startedAt = clock.elapsed();
  const ended = new Map<number, KillReport['ended'][number]>();
  let lastSeen = startedAt;
  for (;;) {
    // Usually no process is left, and then there is no need to read more of all processes.
    const entries = (await findTags(new Set([wanted]))).size > 0 ? await readProcesses(wanted) : [];
    const { processes, groups } = chooseVictims(entries, process.pid);
    for (const group of groups) signal(-group);
    for (const each of processes) {
      signal(each.pid);
      ended.set(each.pid, named(each));
    }
    const now = clock.elapsed();
    if (processes.length > 0) lastSeen = now;
    else if (now - lastSeen >= quietMs) return { ended: [...ended.values()], left: [] };
    if (now - startedAt >= TIMEOUT_MS) return { ended: [...ended.values()], left: processes.map(named) };
    await sleep(clock, processes.length > 0 ? AFTER_KILL_MS : BETWEEN_LOOKS_MS);
  }
}

/** The number of ended processes of earlier runs, and of runs whose processes are not known. */
export interface Leftovers {
  readonly ended: number;
  readonly unknown: number;
}

/**
 * Ends the processes of earlier runs whose guardian was killed as well. A run whose tag is damaged is left alone, because
 * another program might have such a tag.
 */
export async function endLeftovers(runs: readonly { readonly runTag: string }[], clock: Clock): Promise<Leftovers> {
  if (!canReadProcesses()) return { ended: 0, unknown: 0 };
  const tags = runs.map(({ runTag }) => runTag).filter(isTag);
  const reports = await Promise.all(tags.map((tag) => killTagged(tag, LEFTOVERS_QUIET_MS, clock)));
  return { ended: reports.reduce((sum, { ended }) => sum + ended.length, 0), unknown: runs.length - tags.length };
}

const LEFTOVERS_QUIET_MS = 30;

export function describeLeftovers({ ended, unknown }: Leftovers): readonly string[] {
  const damaged = `orchestrator.json is damaged: it does not say how to find the processes of ${unknown} earlier runs. If \`ps\` shows any, end them.`;
  return [...(ended > 0 ? [`Ended ${ended} processes of an earlier run.`] : []), ...(unknown > 0 ? [damaged] : [])];
}
const AFTER_KILL_MS = 5;
/** As long as the quiet time after a shutdown, so that two looks are enough then. */
const BETWEEN_LOOKS_MS = 30;

function signal(target: number): void {
  try {
    process.kill(target, 'SIGKILL');
  } catch {
    // The process has exited meanwhile, or this process may not signal it. In the second case, the process is found
    // again and reported as left.
  }
}

function named({ pid, command }: ProcessEntry) {
  return { pid, command };
}
