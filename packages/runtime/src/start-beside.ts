import { GoondanError } from '@goondan/types';
import { checkSwarmPlan } from './config/check-swarm-plan.ts';
import { connectOwnSwarm } from './control/connect-swarm.ts';
import type { Swarm } from './control/swarm.ts';
import { startBunBeside } from './ipc/bun-beside.ts';
import { fromFrameError } from './ipc/check/frame-error.ts';
import { requireBun } from './ports/is-bun.ts';
import { chooseStateRoot, type PlanToStart, type StartSwarmOptions } from './start-swarm.ts';

/** The options that are sent to the Bun process. They must be JSON. */
export type SwarmToStart = StartSwarmOptions & { readonly wantsLog: boolean };

/** Starts a swarm in a Bun process beside this Node process, and connects to it. */
export async function startBeside({ onLog, ...options }: StartSwarmOptions): Promise<Swarm> {
  if ('agents' in options) checkCrossing(options);
  const stateRoot = chooseStateRoot(options.stateRoot);
  let failure: GoondanError | undefined;
  const beside = await startBunBeside((said) => {
    if ('log' in said) onLog?.(said.log);
    if ('failure' in said) failure = fromFrameError(said.failure);
  });
  try {
    const wanted: SwarmToStart = { ...options, stateRoot, wantsLog: onLog !== undefined };
    const workspaceId = await beside.call<string>('startSwarm', wanted);
    const ended = beside.ended.then((badEnd) => {
      if (badEnd !== undefined) failure ??= died(badEnd);
    });
    return await connectOwnSwarm(
      { stateRoot, workspaceId },
      { ended, end: () => beside.end(), failure: () => failure },
    );
  } catch (error) {
    await beside.end();
    throw error;
  }
}

/**
 * Checks that the options can be sent to another process. **Errors** — `E_NEEDS_BUN` for `readPlan`, `E_SWARM_PLAN` for
 * anything else that is not JSON.
 */
function checkCrossing({ readPlan, ...plan }: PlanToStart): void {
  if (readPlan !== undefined) {
    const suggestion = 'Write the swarm into a folder and pass `{ bundleFolder }`: `reload()` reads it again.';
    requireBun('readPlan is a function. It', suggestion);
  }
  checkSwarmPlan(plan);
}

function died(badEnd: string): GoondanError {
  return new GoondanError('E_PROCESS_START', `The Bun process of this swarm ended unexpectedly (${badEnd}).`);
}
