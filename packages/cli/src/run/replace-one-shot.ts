/**
 * Starts a swarm in the place of a one-shot run (`gdn run --input`), which never keeps a swarm from being served.
 *
 * 1. The one-shot run is asked to stop. Its turn may finish within the grace of its swarm; otherwise the next swarm
 *    continues the turn. In both cases the run gets its answer, because it asks the next swarm again with the same id.
 * 2. The lock of the workspace decides who runs it. A start that loses it to another one-shot run replaces that one, too.
 * 3. Only a swarm that serves refuses the start.
 */
import { connectSwarm, type Swarm, type SwarmStatus } from '@goondan/runtime';
import type { ControlPlace } from '@goondan/runtime/control';
import { sleep, systemClock } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';
import { interrupted } from '../interrupted.ts';
import { attachSwarm } from '../swarm/attach-swarm.ts';
import type { SwarmPlace } from '../swarm/swarm-place.ts';
import type { Terminal } from '../terminal.ts';
import { whenAborted } from '../with-interrupt.ts';

/** How long an owner of the workspace may not answer, because it is starting or has just ended. */
const PATIENCE_MS = 30_000;
const SILENCE_MS = 2_000;
const AGAIN_MS = 50;
/** How long the start waits for such an owner without a word. */
const SILENTLY_MS = 1_000;
/** The number of one-shot runs that one start replaces. */
const MOST_REPLACED = 100;

/** Called with what the start waits for, before it waits. */
export type OnWait = (why: string) => void;

export function tellWait({ printError }: Pick<Terminal, 'printError'>): OnWait {
  return (why) => printError(`${why}\n`);
}

/** Returns the status of the swarm that runs there, unless it is a one-shot run. **Errors** — those of `attachSwarm`. */
export async function findServing(place: SwarmPlace): Promise<SwarmStatus | undefined> {
  try {
    const status = await (await attachSwarm(place))?.status();
    return status?.oneShot === true ? undefined : status;
  } catch (error) {
    // It has ended in the meantime.
    if (GoondanError.is(error) && error.code === 'E_CONTROL_CLOSED') return undefined;
    throw error;
  }
}

/** Runs `start`, and again when a one-shot run has ended for it. **Errors** — `E_CANCELLED`, and those of `start`. */
export async function replaceOneShots(
  workspace: ControlPlace,
  start: () => Promise<Swarm>,
  onWait: OnWait,
  signal: AbortSignal = new AbortController().signal,
): Promise<Swarm> {
  let deadline = systemClock.elapsed() + PATIENCE_MS;
  let replaced = 0;
  let isTold = false;
  while (!signal.aborted) {
    try {
      return await start();
    } catch (error) {
      const owner = isTaken(error) ? await findOwner(workspace) : 'serving';
      const isOver = replaced === MOST_REPLACED || systemClock.elapsed() > deadline;
      if (owner === 'serving' || isOver) throw error;
      if (owner === 'unknown') {
        const isLong = systemClock.elapsed() > deadline - PATIENCE_MS + SILENTLY_MS;
        if (isLong && !isTold) onWait('Waits for the process that has the workspace and does not answer.');
        isTold ||= isLong;
        await sleep(systemClock, AGAIN_MS);
        continue;
      }
      onWait(`Waits for the turn of \`gdn run --input\` in process ${owner}, then starts.`);
      await endOneShot(workspace, signal);
      replaced += 1;
      deadline = systemClock.elapsed() + PATIENCE_MS;
    }
  }
  throw interrupted('The swarm was not started.');
}

function isTaken(error: unknown): boolean {
  return GoondanError.is(error) && error.code === 'E_SWARM_RUNNING';
}

/** Returns the process of the one-shot run that owns the workspace; `unknown` if the owner does not answer (yet). */
async function findOwner(workspace: ControlPlace): Promise<number | 'serving' | 'unknown'> {
  try {
    const { pid, oneShot } = await (await connectSwarm(workspace, { silenceMs: SILENCE_MS })).status();
    return oneShot === true ? pid : 'serving';
  } catch (error) {
    const isUnknown = GoondanError.is(error) && ['E_CONTROL_CLOSED', 'E_CONTROL_SILENT'].includes(error.code);
    return isUnknown ? 'unknown' : 'serving';
  }
}

/** Resolves when the workspace is free, or `signal` aborts. The next start tells whether it is really free. */
async function endOneShot(workspace: ControlPlace, signal: AbortSignal): Promise<void> {
  // A swarm that serves, and has taken the workspace meanwhile, refuses a handover.
  const stop = async () => (await connectSwarm(workspace)).stop({ handover: true, left: signal });
  await Promise.race([stop().catch(() => undefined), whenAborted(signal)]);
}
