/**
 * Controls the orchestrator under test from outside: starts it, connects to it, kills it, and checks that no process is
 * left.
 */
import { join } from 'node:path';
import { connectSwarm, type Swarm } from '@goondan/runtime';
import { readOwner } from '../../packages/runtime/src/testing/read-owner.ts';
import { workspace } from './plan.ts';
import { findTagged, waitUntilGone } from './processes.ts';

export interface Orchestrator {
  readonly pid: number;
  readonly control: Swarm;
  /** The environment entry that all processes of the run have. */
  readonly runTag: string;
  /** Sends SIGKILL to the orchestrator alone, or to its process group. */
  kill(target: 'process' | 'group'): Promise<RunEnd>;
  /** Stops the orchestrator as an operator would. */
  stop(): Promise<RunEnd>;
}

export interface RunEnd {
  /** The number of processes that the run had before its end. */
  readonly before: number;
  /** The time until the last process had exited; `undefined` when this took longer than two seconds. */
  readonly goneAfterMs: number | undefined;
}

/** The time within which every process must have ended, in milliseconds. */
const ORPHAN_LIMIT_MS = 2_000;

export async function startOrchestrator(stateRoot: string): Promise<Orchestrator> {
  const command = [process.execPath, '--no-install', join(import.meta.dir, 'swarm-process.ts'), stateRoot];
  const child = Bun.spawn(command, { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  const greeting = await child.stdout.getReader().read();
  if (new TextDecoder().decode(greeting.value) !== 'ready\n') throw new Error('The orchestrator did not start.');
  const owner = await readOwner({ stateRoot, workspaceId: workspace });
  if (owner === undefined) throw new Error('Nobody runs the workspace.');
  const { runTag } = owner;
  const end = async (signal: NodeJS.Signals, target: number) => {
    const before = findTagged(runTag).length;
    process.kill(target, signal);
    await child.exited;
    return { before, goneAfterMs: await waitUntilGone(runTag, ORPHAN_LIMIT_MS) };
  };
  return {
    pid: child.pid,
    control: await connectSwarm({ stateRoot, workspaceId: workspace }),
    runTag,
    kill: (target) => end('SIGKILL', target === 'group' ? -child.pid : child.pid),
    stop: () => end('SIGTERM', child.pid),
  };
}
