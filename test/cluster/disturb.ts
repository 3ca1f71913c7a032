/** Runs a round of work, disturbs it in the middle, and compares the result with an undisturbed round on files. */
import { readdirSync, readFileSync } from 'node:fs';
import type { Random } from '../../packages/runtime/src/workspace/simulation/seeded-random.ts';
import { type Outcome, readOutcome } from './read-outcome.ts';
import { type Cluster, type StartedNode, startCluster } from './start-cluster.ts';
import { checkWork, work, type WorkCheck, type WorkResult } from './workload.ts';

export interface Undisturbed {
  readonly round: string;
  readonly outcome: Outcome;
}

/** Runs a round on one node with files. */
export async function runUndisturbed(bundleFolder: string): Promise<Undisturbed> {
  await using cluster = await startCluster({ bundleFolder });
  return await workUndisturbed(cluster);
}

/** Runs a round on a cluster that nothing disturbs. */
export async function workUndisturbed(cluster: Cluster): Promise<Undisturbed> {
  await work(cluster, 'undisturbed');
  return { round: 'undisturbed', outcome: await readRound(cluster, 'undisturbed') };
}

export interface Disturbed extends WorkCheck {
  readonly result: WorkResult;
}

/** Runs a round, and calls `disturb` after so many events of the runtime. */
export async function runDisturbed(
  cluster: Cluster,
  round: string,
  undisturbed: Undisturbed,
  { afterEvents, disturb }: { readonly afterEvents: number; readonly disturb: () => Promise<void> },
): Promise<Disturbed> {
  const reached = await countEvents(cluster, afterEvents);
  const working = work(cluster, round);
  working.catch(() => undefined);
  await Promise.race([reached.promise, working]);
  await disturb();
  const result = await working;
  reached.end();
  return { ...checkWork(cluster, round, { result, outcome: await readRound(cluster, round) }, undisturbed), result };
}

async function readRound(cluster: Cluster, round: string): Promise<Outcome> {
  const reader = cluster.openReader();
  try {
    return await readOutcome(reader, `${round}-`);
  } finally {
    await reader.close();
  }
}

/**
 * Counts the runtime events of all nodes: starts of turns, ends of steps, calls of tools. Each of them has a record, so
 * this hits a random record without a clock. A round has at least `EVENTS` of them.
 */
async function countEvents(
  cluster: Cluster,
  wanted: number,
): Promise<{ readonly promise: Promise<void>; end(): void }> {
  const reached = Promise.withResolvers<void>();
  let count = 0;
  const watches = await Promise.all(
    cluster.nodes.map(({ swarm, output }) =>
      // A node that has lost its place does not answer until it has joined again.
      untilDone(output, () =>
        swarm.watch({ types: ['runtime.event'] }, () => {
          count += 1;
          if (count >= wanted) reached.resolve();
        }),
      ),
    ),
  );
  for (const { ended } of watches) ended.catch(() => undefined);
  return { promise: reached.promise, end: () => watches.forEach(({ end }) => end()) };
}

const JOIN_LIMIT_MS = 30_000;

async function untilDone<Value>(output: () => string, attempt: () => Promise<Value>): Promise<Value> {
  const deadline = performance.now() + JOIN_LIMIT_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > deadline) throw new Error(`The node does not answer: ${output()}`, { cause: error });
      await Bun.sleep(25);
    }
  }
}

/** The number of runtime events after which a round is certainly not over. */
export const EVENTS = 40;

export function drawEvent(random: Random): number {
  return 1 + random.below(EVENTS);
}

/** Stops all processes of a node where they are, as a machine that sleeps. */
export function freeze(node: StartedNode): { thaw(): void } {
  const pids = withDescendants(node.pid);
  for (const pid of pids) signal(pid, 'SIGSTOP');
  return { thaw: () => pids.toReversed().forEach((pid) => signal(pid, 'SIGCONT')) };
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended.
  }
}

/** Lists a process and all that it started, directly or not. */
export function withDescendants(root: number): readonly number[] {
  const parents = new Map<number, number>();
  for (const pid of readdirSync('/proc').map(Number).filter(Number.isInteger)) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      parents.set(pid, Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // It has ended.
    }
  }
  const found = [root];
  for (const parent of found) for (const [pid, of_] of parents) if (of_ === parent) found.push(pid);
  return found;
}
